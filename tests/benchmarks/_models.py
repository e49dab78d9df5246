"""A folder of compiled dbt models in Trino's SQL, in the manner of public blockchain projects: made by rules, no data.

Per project and chain: decoded events → base trades → enriched trades → daily figures; per project and per chain, unions
of these. Base tables are in no catalog, so that columns are inferred from their use, as in such projects.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

__all__ = ["models"]

CHAINS = [
    "arbitrum",
    "avalanche_c",
    "base",
    "bnb",
    "celo",
    "ethereum",
    "fantom",
    "gnosis",
    "linea",
    "mantle",
    "optimism",
    "polygon",
    "scroll",
    "sei",
    "zksync",
]
_UNITS = ("minute", "hour", "day", "week")


def models(count: int = 3285, seed: int = 7) -> dict[str, str]:
    """Return so many models, by file name."""
    found: dict[str, str] = {}
    chance = random.Random(seed)
    projects = max(1, -(-count // (4 * len(CHAINS) + 2)))
    for number in range(projects):
        for name, text in _project(f"exchange{number}", chance):
            found[f"{name}.sql"] = text
    for chain in CHAINS:
        parts = [f"exchange{number}_{chain}.trades" for number in range(projects)]
        found[f"dex_{chain}_trades.sql"] = _union(f"dex_{chain}.trades", parts)
    names = sorted(found)
    chance.shuffle(names)
    kept = set(names[:count])
    return {name: text for name, text in found.items() if name in kept}


def _project(project: str, chance: random.Random) -> Iterator[tuple[str, str]]:
    for chain in CHAINS:
        schema = f"{project}_{chain}"
        yield f"{project}/{schema}_base_trades", _base_trades(project, chain, chance)
        yield f"{project}/{schema}_trades", _trades(project, chain)
        yield f"{project}/{schema}_daily", _daily(schema, chance)
        yield f"{project}/{schema}_traders", _traders(schema, chance)
    yield f"{project}/{project}_trades", _union(f"{project}.trades", [f"{project}_{c}.trades" for c in CHAINS])
    yield f"{project}/{project}_daily", _union_of_days(project)


def _base_trades(project: str, chain: str, chance: random.Random) -> str:
    versions = "\n    UNION ALL\n".join(
        f"""    SELECT
        t.evt_block_number AS block_number
        , CAST(t.evt_block_time AS timestamp(3) with time zone) AS block_time
        , t."to" AS taker
        , t.contract_address AS maker
        , CASE WHEN amount0Out = UINT256 '0' THEN amount1Out ELSE amount0Out END AS token_bought_amount_raw
        , CASE WHEN amount0In = UINT256 '0' OR amount1Out = UINT256 '0' THEN amount1In ELSE amount0In END
            AS token_sold_amount_raw
        , CASE WHEN amount0Out = UINT256 '0' THEN f.token1 ELSE f.token0 END AS token_bought_address
        , CASE WHEN amount0In = UINT256 '0' OR amount1Out = UINT256 '0' THEN f.token1 ELSE f.token0 END
            AS token_sold_address
        , t.contract_address AS project_contract_address
        , t.evt_tx_hash AS tx_hash
        , t.evt_index AS evt_index
        , '{version}' AS version
        , IF(f.fee IS NULL, {chance.randint(1, 30)}, f.fee) / 1e4 AS pool_fee
    FROM {project}_{version}_{chain}.Pair_evt_Swap AS t
    INNER JOIN {project}_{version}_{chain}.Factory_evt_PairCreated AS f
        ON f.pair = t.contract_address
    WHERE t.evt_block_time >= date_trunc('{chance.choice(_UNITS)}', now() - interval '7' day)
        AND t.contract_address NOT IN (0x0ed7e52944161450477ee417de9cd3a859b14fd0, 0x{chance.getrandbits(80):020x})"""
        for version in ("v1", "v2")[: chance.randint(1, 2)]
    )
    return f"""CREATE OR REPLACE VIEW {project}_{chain}.base_trades AS
WITH dexs AS (
{versions}
)
SELECT
    '{chain}' AS blockchain
    , '{project}' AS project
    , dexs.version
    , CAST(date_trunc('month', dexs.block_time) AS date) AS block_month
    , CAST(date_trunc('day', dexs.block_time) AS date) AS block_date
    , dexs.block_time
    , dexs.block_number
    , CAST(dexs.token_bought_amount_raw AS UINT256) AS token_bought_amount_raw
    , CAST(dexs.token_sold_amount_raw AS UINT256) AS token_sold_amount_raw
    , dexs.token_bought_address
    , dexs.token_sold_address
    , dexs.taker
    , dexs.maker
    , dexs.project_contract_address
    , dexs.tx_hash
    , dexs.evt_index
    , pool_fee
    , row_number() OVER (PARTITION BY dexs.tx_hash, dexs.evt_index ORDER BY dexs.block_number DESC) AS duplicate_rank
FROM dexs
"""


def _trades(project: str, chain: str) -> str:
    return f"""CREATE OR REPLACE VIEW {project}_{chain}.trades AS
WITH base AS (
    SELECT *
    FROM {project}_{chain}.base_trades
    WHERE duplicate_rank = 1
)
, enrichments AS (
    SELECT
        base.blockchain
        , base.project
        , base.version
        , base.block_month
        , base.block_date
        , base.block_time
        , base.block_number
        , erc20_bought.symbol AS token_bought_symbol
        , erc20_sold.symbol AS token_sold_symbol
        , CASE
            WHEN lower(erc20_bought.symbol) > lower(erc20_sold.symbol)
                THEN concat(erc20_sold.symbol, '-', erc20_bought.symbol)
            ELSE concat(erc20_bought.symbol, '-', erc20_sold.symbol)
        END AS token_pair
        , base.token_bought_amount_raw / power(10, erc20_bought.decimals) AS token_bought_amount
        , base.token_sold_amount_raw / power(10, erc20_sold.decimals) AS token_sold_amount
        , base.token_bought_amount_raw
        , base.token_sold_amount_raw
        , base.token_bought_address
        , base.token_sold_address
        , coalesce(base.taker, tx."from") AS taker
        , base.maker
        , base.project_contract_address
        , base.tx_hash
        , tx."from" AS tx_from
        , tx."to" AS tx_to
        , base.evt_index
        , pool_fee
    FROM base
    INNER JOIN {chain}.transactions AS tx
        ON base.tx_hash = tx.hash
        AND base.block_number = tx.block_number
        AND tx.block_time >= TIMESTAMP '2020-05-05 00:00:00'
    LEFT JOIN tokens.erc20 AS erc20_bought
        ON erc20_bought.contract_address = base.token_bought_address
        AND erc20_bought.blockchain = base.blockchain
    LEFT JOIN tokens.erc20 AS erc20_sold
        ON erc20_sold.contract_address = base.token_sold_address
        AND erc20_sold.blockchain = base.blockchain
)
, prices AS (
    SELECT blockchain, contract_address, minute, price
    FROM prices.usd
    WHERE blockchain = '{chain}'
        AND minute >= TIMESTAMP '2020-05-05 00:00:00'
)
SELECT
    en.*
    , coalesce(
        en.token_bought_amount * pb.price
        , en.token_sold_amount * ps.price
    ) AS amount_usd
    , coalesce(en.token_bought_amount * pb.price, en.token_sold_amount * ps.price) * pool_fee AS fee_usd
FROM enrichments AS en
LEFT JOIN prices AS pb
    ON en.token_bought_address = pb.contract_address
    AND en.blockchain = pb.blockchain
    AND pb.minute = date_trunc('minute', en.block_time)
LEFT JOIN prices AS ps
    ON en.token_sold_address = ps.contract_address
    AND en.blockchain = ps.blockchain
    AND ps.minute = date_trunc('minute', en.block_time)
"""


def _daily(schema: str, chance: random.Random) -> str:
    unit = chance.choice(_UNITS)
    return f"""CREATE TABLE {schema}.daily AS
WITH volumes AS (
    SELECT
        t.block_date
        , t.token_pair
        , t.project
        , t.blockchain
        , sum(t.amount_usd) AS volume_usd
        , count(*) AS trades
        , count(DISTINCT t.taker) AS takers
        , approx_percentile(t.amount_usd, 0.5) AS median_usd
        , max_by(t.tx_hash, t.amount_usd) AS largest_tx
    FROM {schema}.trades AS t
    WHERE t.block_time >= date_trunc('{unit}', now()) - interval '{chance.randint(2, 90)}' day
    GROUP BY 1, 2, 3, 4
)
, calendar AS (
    SELECT day
    FROM unnest(sequence(date '2020-01-01', current_date, interval '1' day)) AS s (day)
)
, ranked AS (
    SELECT
        volumes.*
        , sum(volume_usd) OVER (PARTITION BY token_pair ORDER BY block_date) AS cumulative_usd
        , lag(volume_usd, 1) OVER (PARTITION BY token_pair ORDER BY block_date) AS previous_usd
        , rank() OVER (PARTITION BY block_date ORDER BY volume_usd DESC) AS pair_rank
    FROM volumes
)
SELECT
    c.day AS block_date
    , r.token_pair
    , r.project
    , r.blockchain
    , coalesce(r.volume_usd, 0) AS volume_usd
    , r.cumulative_usd
    , (r.volume_usd - r.previous_usd) / nullif(r.previous_usd, 0) AS growth
    , r.trades
    , r.takers
    , r.median_usd
    , CASE WHEN r.pair_rank <= {chance.randint(3, 20)} THEN r.token_pair ELSE 'other' END AS shown_pair
    , r.largest_tx
FROM calendar AS c
LEFT JOIN ranked AS r ON r.block_date = c.day
"""


def _traders(schema: str, chance: random.Random) -> str:
    return f"""CREATE TABLE {schema}.traders AS
WITH first_trades AS (
    SELECT
        taker
        , min(block_time) AS first_trade
        , max(block_time) AS last_trade
        , min_by(token_pair, block_time) AS first_pair
        , array_agg(DISTINCT project_contract_address) AS contracts
    FROM {schema}.trades
    GROUP BY taker
)
, labelled AS (
    SELECT
        address
        , name
        , category
    FROM labels.addresses
    WHERE category IN ('dex', 'cex', 'mev', 'label{chance.randint(1, 40)}')
)
, spent AS (
    SELECT t.taker, t.project, sum(t.amount_usd) AS amount_usd, sum(fee_usd) AS fee_usd
    FROM {schema}.trades AS t
    INNER JOIN first_trades AS f ON f.taker = t.taker AND t.block_time <= date_add('day', 30, f.first_trade)
    GROUP BY 1, 2
)
SELECT
    f.taker
    , s.project
    , coalesce(name, 'unknown') AS label
    , CASE category WHEN 'mev' THEN 'bot' WHEN 'cex' THEN 'exchange' ELSE 'user' END AS kind
    , f.first_trade
    , f.last_trade
    , f.first_pair
    , cardinality(f.contracts) AS contracts
    , s.amount_usd
    , s.fee_usd / nullif(s.amount_usd, 0) AS fee_share
    , symbol AS gas_token
    , tx.gas_price * tx.gas_used / 1e18 AS gas
FROM first_trades AS f
LEFT JOIN spent AS s ON s.taker = f.taker
LEFT JOIN labelled ON labelled.address = f.taker
LEFT JOIN evms.info AS i ON i.blockchain = s.project
LEFT JOIN {schema.partition("_")[2]}.transactions AS tx ON tx."from" = f.taker AND tx.block_time = f.first_trade
"""


def _union(target: str, parts: list[str]) -> str:
    columns = """blockchain
        , project
        , version
        , block_month
        , block_date
        , block_time
        , token_bought_symbol
        , token_sold_symbol
        , token_pair
        , token_bought_amount
        , token_sold_amount
        , amount_usd
        , fee_usd
        , token_bought_address
        , token_sold_address
        , taker
        , maker
        , tx_hash
        , tx_from
        , tx_to
        , evt_index"""
    union = "\n    UNION ALL\n".join(f"    SELECT\n        {columns}\n    FROM {part}" for part in parts)
    return f"CREATE OR REPLACE VIEW {target} AS\nSELECT *\nFROM (\n{union}\n)\n"


def _union_of_days(project: str) -> str:
    union = "\n    UNION ALL\n".join(f"    SELECT * FROM {project}_{chain}.daily" for chain in CHAINS)
    return f"""CREATE TABLE {project}.daily AS
SELECT
    block_date
    , blockchain
    , sum(volume_usd) AS volume_usd
    , sum(trades) AS trades
    , max(cumulative_usd) AS cumulative_usd
    , sum(volume_usd) / nullif(sum(sum(volume_usd)) OVER (PARTITION BY block_date), 0) AS share
FROM (
{union}
)
GROUP BY 1, 2
"""
