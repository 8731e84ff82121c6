/** Everything that hostile input could have broken or added, as one line per fact. */
export const inventorySql = `
  SELECT 'tables', string_agg(relname, ',' ORDER BY relname) FROM pg_class
    WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace
  UNION ALL SELECT 'roles', string_agg(rolname, ',' ORDER BY rolname) FROM pg_roles
  UNION ALL SELECT 'migrations', count(*)::text FROM migrations
  UNION ALL SELECT 'users', count(*)::text FROM users
  UNION ALL SELECT 'runs of others'' vals', count(*)::text FROM runs r JOIN vals v ON v.id = r.val_id
    WHERE v.owner_id <> r.owner_id`

export const countsSql = `SELECT
  (SELECT count(*) FROM vals) || ' ' ||
  (SELECT count(*) FROM documents) || ' ' ||
  (SELECT count(DISTINCT val_id) FROM versions) || ' ' ||
  (SELECT count(*) FROM comments) || ' ' ||
  (SELECT count(*) FROM tokens) || ' ' ||
  (SELECT count(*) FROM vals WHERE name IN ('smuggled', 'never'))`
