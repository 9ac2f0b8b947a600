# What no schema can say: who asks, and how that is proved. And why a request that fits its schema may be refused: the
# document lists it as x-further-rules, and nothing else counts.
import fnmatch
import hashlib
import hmac
import itertools
import json
import os
import time

import schemathesis

MERCHANT_KEY = os.environ["FUZZ_MERCHANT_KEY"]
SECRET_KEY = os.environ["FUZZ_SECRET_KEY"]
METRICS_TOKEN = os.environ["FUZZ_METRICS_TOKEN"]
SIGNED_WHOLE = ("/v1/requests", "/v1/test/triggers", "/v1/test/clock")  # the signature is of all fields
PAYMENTS = ("/v1/mobile_agents_v2", "/gateway", "/gateway/checkout", "/")

asking = itertools.count(1)


def spelled(value):
    return value if isinstance(value, str) else "" if value is None else json.dumps(value)


def signature(text):
    return hmac.new(SECRET_KEY.encode(), text.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()


# Schemathesis removes and replaces it to see that it is needed, which a hook would undo.
@schemathesis.auth().apply_to(path="/metrics")
class MetricsToken:
    def get(self, case, context):
        return METRICS_TOKEN

    def set(self, case, data, context):
        case.headers = {**(case.headers or {}), "Authorization": f"Bearer {data}"}


@schemathesis.hook
def before_call(context, case, kwargs):
    path = case.operation.path
    headers = case.headers if case.headers is not None else {}
    case.headers = headers
    number = next(asking)  # an address of its own, so that nobody is slowed down for another's misses
    headers["X-Forwarded-For"] = f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
    fields = case.body if isinstance(case.body, dict) else case.query
    if not fields or not isinstance(fields.get("merchant_key"), str) or not fields["merchant_key"]:
        return
    fields["merchant_key"] = MERCHANT_KEY
    if path == "/v1/events":
        if headers.get("x-tollgate-signature"):
            t = int(time.time())
            text = f"{t}.{MERCHANT_KEY}.{spelled(fields.get('after'))}.{spelled(fields.get('limit'))}"
            headers["x-tollgate-signature"] = f"t={t},v1={signature(text)}"
        return
    if path in SIGNED_WHOLE:
        fields["time"] = int(time.time())
        names = sorted(name for name in fields if name != "secure_hash" and fields[name] is not None)
        if "secure_hash" in fields:
            fields["secure_hash"] = signature("&".join(f"{name}={spelled(fields[name])}" for name in names))
        return
    text = f"invoice_id={spelled(fields.get('invoice_id'))}&merchant_key={MERCHANT_KEY}"
    if path in PAYMENTS:
        fields["secure_hash"] = signature(f"{text}&total={spelled(fields.get('total'))}")
    elif "secure_hash" in fields:
        fields["secure_hash"] = signature(text)


@schemathesis.check
def refused_by_a_named_rule(ctx, response, case):
    mode = case.meta.generation.mode if case.meta else None
    if mode is None or not mode.is_positive or response.status_code < 400:
        return
    if case.operation.path == "/checkout/{token}" and response.status_code in (404, 410):
        return  # a made-up token, or a payment that the test clock has expired
    if case.operation.path == "/metrics" and response.status_code == 403:
        return  # the same
    try:
        error = response.json().get("error", {})
    except ValueError:
        error = {}
    rules = case.operation.definition.raw.get("x-further-rules", [])
    for rule in rules:
        if rule["http"] != response.status_code or error.get("code", rule["code"]) != rule["code"]:
            continue
        if "field" not in rule or fnmatch.fnmatchcase(error.get("field", rule["field"]), rule["field"]):
            return
    raise AssertionError(f"A request that fits its schema was refused by no rule of x-further-rules: {error}")
