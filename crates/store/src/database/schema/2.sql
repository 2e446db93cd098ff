-- Of every answer also the bytes that reports of many read, where the database gains by them.
{answer}
