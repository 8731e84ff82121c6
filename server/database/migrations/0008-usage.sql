-- What an owner's vals did on a day, by UTC: counted as runs are recorded, each once.
CREATE TABLE usage (
  owner_id uuid NOT NULL,
  day date NOT NULL,
  runs bigint NOT NULL,
  failed bigint NOT NULL,
  -- How long they ran, together.
  run_ms bigint NOT NULL,
  PRIMARY KEY (owner_id, day)
) WITH (fillfactor = 50);
CREATE INDEX usage_by_day ON usage (day);

-- What runs printed and returned may be dropped sooner than the runs themselves.
CREATE FUNCTION drop_partitions(parent regclass, first_kept_day date) RETURNS integer
  LANGUAGE plpgsql AS $$
DECLARE
  partition regclass;
  dropped integer := 0;
BEGIN
  FOR partition IN
    SELECT inhrelid::regclass FROM pg_inherits
    WHERE inhparent = parent AND right(inhrelid::regclass::text, 8) < to_char(first_kept_day, 'YYYYMMDD')
  LOOP
    EXECUTE format('DROP TABLE %s', partition);
    dropped := dropped + 1;
  END LOOP;
  RETURN dropped;
END $$;
DROP FUNCTION drop_run_partitions(date);
