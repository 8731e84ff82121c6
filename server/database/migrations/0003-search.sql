-- What search reads, apart from vals: a like or a run must not touch the full-text index.
CREATE TABLE documents (
  val_id uuid PRIMARY KEY,
  owner_id uuid NOT NULL,
  is_public boolean NOT NULL,
  name text NOT NULL,
  words tsvector NOT NULL
);
CREATE INDEX documents_public ON documents USING gin (words, name gin_trgm_ops) WHERE is_public;
CREATE INDEX documents_private ON documents USING gin (owner_id, words, name gin_trgm_ops) WHERE NOT is_public;
CREATE INDEX documents_newest_public ON documents (val_id) WHERE is_public;
CREATE INDEX documents_public_by_name ON documents (lower(name), val_id) WHERE is_public;
CREATE INDEX documents_private_by_name ON documents (owner_id, lower(name), val_id) WHERE NOT is_public;

-- Code is read as words: identifiers whole and in their parts (getWeather: getweather, get, weather). Only the
-- beginning of long texts counts, because a tsvector has a largest size.
CREATE FUNCTION document_words(name text, readme text, code text) RETURNS tsvector
  LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT strip(to_tsvector('simple', regexp_replace(
    content || ' ' || regexp_replace(content, '([[:lower:][:digit:]])([[:upper:]])', '\1 \2', 'g'),
    '[^[:alnum:]]+', ' ', 'g')))
  FROM (SELECT concat_ws(' ', name, left(readme, 20000), left(code, 20000)) AS content) every
$$;
