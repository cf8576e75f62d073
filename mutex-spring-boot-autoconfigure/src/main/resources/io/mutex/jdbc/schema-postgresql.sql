CREATE TABLE IF NOT EXISTS @@schema@@@@prefix@@lock (
  namespace varchar(200) COLLATE "C" NOT NULL,
  lock_key varchar(200) COLLATE "C" NOT NULL,
  slot smallint NOT NULL,
  version bigint NOT NULL,
  token bigint NOT NULL,
  nonce varchar(32) COLLATE "C" NOT NULL,
  lock_name varchar(500),
  owner_info varchar(300),
  unit varchar(200) COLLATE "C",
  attempt int NOT NULL,
  acquired_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  shared_until bigint DEFAULT 0 NOT NULL,
  waiter varchar(32) COLLATE "C",
  waiter_until bigint DEFAULT 0 NOT NULL,
  tombstones varchar(1000),
  buried_at bigint NOT NULL,
  kept_until bigint DEFAULT 0 NOT NULL,
  PRIMARY KEY (namespace, lock_key, slot)
) WITH (fillfactor = 50);

CREATE TABLE IF NOT EXISTS @@schema@@@@prefix@@run (
  namespace varchar(200) COLLATE "C" NOT NULL,
  lock_key varchar(200) COLLATE "C" NOT NULL,
  unit varchar(200) COLLATE "C" NOT NULL,
  status char(1) NOT NULL,
  token bigint NOT NULL,
  nonce varchar(32) COLLATE "C" NOT NULL,
  owner_info varchar(300),
  attempt int NOT NULL,
  began_at bigint NOT NULL,
  ended_at bigint NOT NULL,
  not_before bigint NOT NULL,
  error varchar(500),
  kept_until bigint DEFAULT 9223372036854775807 NOT NULL,
  PRIMARY KEY (namespace, lock_key, unit)
);

-- Every row is in the partial indexes. Their conditions, which few statements have, keep all others on the
-- primary key: without statistics all indexes seem equally good.
CREATE INDEX IF NOT EXISTS @@prefix@@run_began ON @@schema@@@@prefix@@run (namespace, lock_key, status, began_at)
  WHERE began_at > 0;

CREATE INDEX IF NOT EXISTS @@prefix@@run_kept ON @@schema@@@@prefix@@run (namespace, kept_until)
  WHERE kept_until > 0;

CREATE TABLE IF NOT EXISTS @@schema@@@@prefix@@fence (
  namespace varchar(200) COLLATE "C" NOT NULL,
  resource varchar(200) COLLATE "C" NOT NULL,
  lock_key varchar(200) COLLATE "C" NOT NULL,
  token bigint NOT NULL,
  nonce varchar(32) COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  changed_at bigint NOT NULL,
  PRIMARY KEY (namespace, resource)
) WITH (fillfactor = 50);

CREATE INDEX IF NOT EXISTS @@prefix@@fence_key ON @@schema@@@@prefix@@fence (namespace, lock_key)
  WHERE token > 0;
