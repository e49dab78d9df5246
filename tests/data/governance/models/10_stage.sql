create view stage.customers as select * from crm.customers;

create view stage.contacts as
select id as customer_id, lower(trim(email)) as email, first_name || ' ' || last_name as full_name, phone
from crm.customers
union all
select -id, lower(email), null, null from crm.leads;

create view stage.people_safe as
select id, md5(lower(email)) as email_hash, right(ssn, 4) as ssn_last4, split_part(email, '@', 2) as email_domain,
       date_part('year', birth_date) as birth_year
from crm.customers;

create view stage.orders as
select o.id as order_id, o.customer_id, o.ordered_at, o.amount, c.country
from shop.orders o join crm.addresses c on c.customer_id = o.customer_id
where o.status <> 'cancelled';

create view stage.order_lines as
select i.order_id, i.product_id, i.quantity * i.price as total from shop.order_items i;

create view stage.payments as
select p.order_id, 'xxxx' || right(p.card_number, 4) as card_hint, md5(p.iban) as iban_hash, p.amount from shop.payments p;

create view stage.tickets as
select t.id as ticket_id, t.customer_id, t.subject, t.closed_at - t.opened_at as took from support.tickets t;

create view stage.messages as
select m.ticket_id, m.sender_email, length(m.body) as size from support.messages m;

create view stage.sessions as
select s.id as session_id, s.customer_id, s.ip, host(set_masklen(s.ip, 24)) as network, s.started_at from web.sessions s;

create view stage.employees as
select id, full_name, salary from hr.employees;
