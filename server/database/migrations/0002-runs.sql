-- One partition a day, by the time inside the id: a lookup by id touches one partition, a list the newest ones,
-- and retention drops a day whole. The narrow row is what lists read; what a run printed and returned is apart.

CREATE TYPE run_source AS ENUM ('http', 'schedule', 'api');
CREATE TYPE run_status AS ENUM ('queued', 'running', 'succeeded', 'failed', 'timed_out', 'canceled');

CREATE TABLE runs (
  id uuid PRIMARY KEY,
  owner_id uuid NOT NULL,
  val_id uuid NOT NULL,
  parent_id uuid,
  version integer NOT NULL,
  source run_source NOT NULL,
  status run_status NOT NULL,
  started_at timestamptz,
  ended_at timestamptz,
  error jsonb
) PARTITION BY RANGE (id);
CREATE INDEX runs_of_owner ON runs (owner_id, id);
CREATE INDEX runs_of_val ON runs (owner_id, val_id, id);
-- What people look for is rare beside what they do not: failures, and runs that no HTTP request made.
CREATE INDEX runs_of_owner_ended_badly ON runs (owner_id, id)
  WHERE status IN ('failed', 'timed_out', 'canceled');
CREATE INDEX runs_of_val_ended_badly ON runs (owner_id, val_id, id)
  WHERE status IN ('failed', 'timed_out', 'canceled');
CREATE INDEX runs_of_owner_not_http ON runs (owner_id, id) WHERE source <> 'http';

CREATE TABLE run_details (
  id uuid PRIMARY KEY,
  owner_id uuid NOT NULL,
  args jsonb,
  return_value jsonb,
  logs jsonb,
  request jsonb,
  response jsonb,
  timings jsonb,
  memory_peak_bytes bigint
) PARTITION BY RANGE (id);

CREATE FUNCTION create_run_partitions(first_day date, last_day date) RETURNS void
  LANGUAGE plpgsql AS $$
DECLARE
  day date;
  parent text;
BEGIN
  -- Two servers that start together would both find a partition missing.
  PERFORM pg_advisory_xact_lock(7326003);
  FOR day IN SELECT generate_series(first_day, last_day, interval '1 day')::date LOOP
    FOREACH parent IN ARRAY ARRAY['runs', 'run_details'] LOOP
      EXECUTE format(
        'CREATE TABLE IF NOT EXISTS %I PARTITION OF %I FOR VALUES FROM (%L) TO (%L)',
        parent || '_' || to_char(day, 'YYYYMMDD'), parent,
        uuid_floor(day::timestamp AT TIME ZONE 'UTC'), uuid_floor((day + 1)::timestamp AT TIME ZONE 'UTC'));
    END LOOP;
  END LOOP;
END $$;

-- Drops the partitions of the days before first_kept_day and tells how many there were.
CREATE FUNCTION drop_run_partitions(first_kept_day date) RETURNS integer
  LANGUAGE plpgsql AS $$
DECLARE
  partition regclass;
  dropped integer := 0;
BEGIN
  FOR partition IN
    SELECT inhrelid::regclass FROM pg_inherits
    WHERE inhparent IN ('runs'::regclass, 'run_details'::regclass)
      AND right(inhrelid::regclass::text, 8) < to_char(first_kept_day, 'YYYYMMDD')
  LOOP
    EXECUTE format('DROP TABLE %s', partition);
    dropped := dropped + 1;
  END LOOP;
  RETURN dropped;
END $$;
