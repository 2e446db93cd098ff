CREATE TABLE whyfaster_store (version BIGINT NOT NULL);
INSERT INTO whyfaster_store VALUES (0);

CREATE TABLE machine (
    id {id},
    name TEXT NOT NULL,
    machine_id TEXT NOT NULL,
    UNIQUE (name, machine_id)
);

CREATE TABLE facts (
    id {id},
    digest TEXT NOT NULL UNIQUE
);
CREATE TABLE fact (
    facts BIGINT NOT NULL REFERENCES facts,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (facts, name)
);

CREATE TABLE record (
    id {id},
    digest TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    machine BIGINT NOT NULL REFERENCES machine,
    facts BIGINT NOT NULL REFERENCES facts,
    started_us BIGINT NOT NULL,
    took_s DOUBLE PRECISION NOT NULL,
    status TEXT NOT NULL,
    label TEXT NOT NULL,
    unit TEXT,
    about TEXT NOT NULL,
    tool_version TEXT NOT NULL,
    added_us BIGINT NOT NULL
);
CREATE INDEX record_of_machine ON record (kind, machine, started_us);

CREATE TABLE document (
    record {key} PRIMARY KEY REFERENCES record,
    packed {bytes} NOT NULL
);
{packed}

CREATE TABLE price_row (
    id {id},
    family TEXT NOT NULL,
    name TEXT NOT NULL,
    variant TEXT NOT NULL,
    UNIQUE (family, name, variant)
);
CREATE TABLE price (
    record BIGINT NOT NULL,
    row BIGINT NOT NULL,
    floor DOUBLE PRECISION,
    low DOUBLE PRECISION,
    median DOUBLE PRECISION,
    high DOUBLE PRECISION,
    p99 DOUBLE PRECISION,
    mean DOUBLE PRECISION,
    samples BIGINT NOT NULL,
    repetitions BIGINT NOT NULL,
    not_measured TEXT,
    PRIMARY KEY (record, row)
) {by_key};

CREATE TABLE alternative (
    record BIGINT NOT NULL,
    number BIGINT NOT NULL,
    name TEXT NOT NULL,
    command TEXT NOT NULL,
    PRIMARY KEY (record, number)
) {by_key};
CREATE TABLE level (
    record BIGINT NOT NULL,
    load BIGINT NOT NULL,
    alternative BIGINT NOT NULL,
    rounds BIGINT NOT NULL,
    makespan_s DOUBLE PRECISION,
    makespan_low_s DOUBLE PRECISION,
    makespan_high_s DOUBLE PRECISION,
    work_s DOUBLE PRECISION,
    user_s DOUBLE PRECISION,
    system_s DOUBLE PRECISION,
    throughput_per_s DOUBLE PRECISION,
    share DOUBLE PRECISION,
    latency_min_s DOUBLE PRECISION,
    latency_p50_s DOUBLE PRECISION,
    latency_p95_s DOUBLE PRECISION,
    latency_p99_s DOUBLE PRECISION,
    latency_max_s DOUBLE PRECISION,
    run_delay_s DOUBLE PRECISION,
    max_rss_bytes BIGINT NOT NULL,
    voluntary_switches DOUBLE PRECISION,
    involuntary_switches DOUBLE PRECISION,
    timed_out BIGINT NOT NULL,
    PRIMARY KEY (record, load, alternative)
) {by_key};
CREATE TABLE round (
    record BIGINT NOT NULL,
    load BIGINT NOT NULL,
    round BIGINT NOT NULL,
    position BIGINT NOT NULL,
    alternative BIGINT NOT NULL,
    released_s DOUBLE PRECISION,
    makespan_s DOUBLE PRECISION,
    copies BIGINT NOT NULL,
    user_s DOUBLE PRECISION,
    system_s DOUBLE PRECISION,
    failed BIGINT NOT NULL,
    timed_out BIGINT NOT NULL,
    PRIMARY KEY (record, load, round, alternative)
) {by_key};

CREATE TABLE question (
    id {id},
    digest TEXT NOT NULL UNIQUE,
    alternative TEXT NOT NULL,
    command TEXT NOT NULL,
    baseline TEXT NOT NULL,
    baseline_command TEXT NOT NULL,
    load BIGINT NOT NULL
);
CREATE TABLE comparison (
    question BIGINT NOT NULL,
    machine BIGINT NOT NULL,
    started_us BIGINT NOT NULL,
    record BIGINT NOT NULL,
    ratio DOUBLE PRECISION,
    low DOUBLE PRECISION,
    high DOUBLE PRECISION,
    confidence DOUBLE PRECISION NOT NULL,
    verdict TEXT NOT NULL,
    rounds BIGINT NOT NULL,
    PRIMARY KEY (question, machine, started_us, record)
) {by_key};
