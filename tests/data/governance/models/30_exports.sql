create temporary table newsletter as
select customer_id, email, full_name from mart.customer_360 where email is not null;

create table export.newsletter as
select n.email, n.full_name, s.email_domain from newsletter n join stage.people_safe s on s.id = n.customer_id;

create table export.newsletter_by_letter as
select left(email, 1) as letter, count(*) as addresses from newsletter group by 1;

create table export.crm_copy as select * from stage.customers;

create table export.crm_copy_of_copy as select * from export.crm_copy;

create table export.loyalty as
select md5(email || phone) as member, first_name from export.crm_copy_of_copy;

insert into export.suppressed (email_hash)
select sha256(email::bytea) from crm.leads union select sha256(email::bytea) from crm.customers;
