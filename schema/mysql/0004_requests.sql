-- Keys of requests: see sqlite/0005_requests.sql for what they mean.
CREATE TABLE ax_request (
  app         VARCHAR(190)  NOT NULL,
  request_key VARCHAR(190)  NOT NULL,
  digest      VARCHAR(64)   NOT NULL,               -- of what was asked for
  instance_id BIGINT        NOT NULL,               -- what came of it
  at          BIGINT        NOT NULL,
  PRIMARY KEY (app, request_key),
  KEY ax_request_at (app, at)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE SQL SECURITY INVOKER VIEW ax_request_v AS SELECT
  app, request_key, digest, instance_id,
  TIMESTAMPADD(MICROSECOND, at, TIMESTAMP('1970-01-01 00:00:00.000000')) AS at
FROM ax_request;
