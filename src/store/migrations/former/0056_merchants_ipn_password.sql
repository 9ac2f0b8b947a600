-- The password of notifications in style basic, sealed. Without one it is the merchant's id, as it was for everybody before.
alter table merchants add column if not exists sealed_ipn_password bytea;
