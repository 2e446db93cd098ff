-- How the copies of a question come, where they are not all released together: 'closed' or 'open', and then how often.
ALTER TABLE question ADD COLUMN arrivals TEXT;
ALTER TABLE question ADD COLUMN starts_per_1000_s BIGINT;
