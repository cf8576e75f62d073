CREATE TABLE IF NOT EXISTS @@schema@@@@prefix@@lock (
  namespace varchar(200) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
  lock_key varchar(200) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
  slot smallint NOT NULL,
  version bigint NOT NULL,
  token bigint NOT NULL,
  nonce varchar(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  lock_name varchar(500) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  owner_info varchar(300) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  unit varchar(200) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin,
  attempt int NOT NULL,
  acquired_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  shared_until bigint DEFAULT 0 NOT NULL,
  waiter varchar(32) CHARACTER SET ascii COLLATE ascii_bin,
  waiter_until bigint DEFAULT 0 NOT NULL,
  tombstones varchar(1000) CHARACTER SET ascii COLLATE ascii_bin,
  buried_at bigint NOT NULL,
  kept_until bigint DEFAULT 0 NOT NULL,
  PRIMARY KEY (namespace, lock_key, slot)
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS @@schema@@@@prefix@@run (
  namespace varchar(200) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
  lock_key varchar(200) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
  unit varchar(200) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
  status char(1) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  token bigint NOT NULL,
  nonce varchar(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  owner_info varchar(300) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  attempt int NOT NULL,
  began_at bigint NOT NULL,
  ended_at bigint NOT NULL,
  not_before bigint NOT NULL,
  error varchar(500) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  kept_until bigint DEFAULT 9223372036854775807 NOT NULL,
  PRIMARY KEY (namespace, lock_key, unit),
  KEY @@prefix@@run_began (namespace, lock_key, status, began_at),
  KEY @@prefix@@run_kept (namespace, kept_until)
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS @@schema@@@@prefix@@fence (
  namespace varchar(200) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
  resource varchar(200) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
  lock_key varchar(200) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
  token bigint NOT NULL,
  nonce varchar(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  version bigint NOT NULL,
  changed_at bigint NOT NULL,
  PRIMARY KEY (namespace, resource),
  KEY @@prefix@@fence_key (namespace, lock_key)
) ENGINE = InnoDB;
