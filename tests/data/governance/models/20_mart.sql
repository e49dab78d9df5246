create view mart.customer_360 as
select c.customer_id, c.email, c.full_name, o.amount, o.country
from stage.contacts c left join stage.orders o on o.customer_id = c.customer_id;

create view mart.email_domains as
select email_domain, count(*) as customers from stage.people_safe group by email_domain;

create view mart.customer_counts as
select country, count(distinct email) as emails, max(email) as sample_email from mart.customer_360 group by country;

create view mart.hashed_audience as
select p.email_hash, o.amount from stage.people_safe p join stage.orders o on o.customer_id = p.id;

create view mart.joined_back as
select a.email_hash, c.email, a.amount
from mart.hashed_audience a join stage.customers c on md5(lower(c.email)) = a.email_hash;

create view mart.age_bands as
select birth_year, count(*) as people from stage.people_safe group by birth_year;

create view mart.revenue_daily as
select date_trunc('day', ordered_at) as day, country, sum(amount) as revenue from stage.orders group by 1, 2;

create view mart.card_fraud as
select card_hint, count(*) as payments, sum(amount) as amount from stage.payments group by card_hint;

create view mart.support_load as
select date_trunc('week', m.opened_at) as week, count(*) as tickets, avg(m.closed_at - m.opened_at) as took
from support.tickets m group by 1;

create view mart.ticket_senders as
select distinct t.ticket_id, m.sender_email, t.subject
from stage.tickets t join stage.messages m on m.ticket_id = t.ticket_id;

create view mart.network_traffic as
select network, count(distinct ip) as addresses from stage.sessions group by network;

create view mart.adult_customers as
select id, case when birth_date < '2008-01-01' then 'yes' else 'no' end as adult from stage.customers;

create view mart.salaries as
select avg(salary) as average_salary, max(salary) as top_salary, min(full_name) as first_name from stage.employees;

create view mart.reachable as
select c.id, coalesce(nullif(c.phone, ''), c.email) as contact from stage.customers c
where exists (select 1 from crm.consents k where k.customer_id = c.id);
