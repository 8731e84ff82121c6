-- Environment variables, of users and of vals. A value is kept encrypted, by the server: what is in here opens only
-- with a key that the database never sees, and only in the row for which it was made.
CREATE TABLE variables (
  owner_id uuid NOT NULL,
  -- The val that has it; or the owner's own id, when all of their vals do.
  holder_id uuid NOT NULL,
  name text NOT NULL,
  -- Of the last write: tells when it was, and makes the revision of every environment that it is part of.
  id uuid NOT NULL,
  key_id text NOT NULL,
  sealed_value bytea NOT NULL,
  PRIMARY KEY (owner_id, holder_id, name)
);
-- Which keys are in use, and what is left to be sealed anew after a change of keys.
CREATE UNIQUE INDEX variables_by_key ON variables (key_id, id);
