create table if not exists account (
  id varchar(50) primary key,
  balance bigint not null,
  token bigint not null
);
