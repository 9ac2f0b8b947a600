# Runs the verbs of the SDK for test/sdk/suite.ts: a line of JSON in, a line of JSON out.
import json
import sqlite3
import sys
import time

sys.path.insert(0, sys.argv[1])
import tollgate  # noqa: E402


def run(op, client, args):
    if op == "sign":
        return client().sign(args[0])._asdict()
    if op == "initiate":
        return client().initiate(args[0])
    if op == "status":
        return client().status(args[0])
    if op == "refund":
        return client().refund(args[0])
    if op == "refund_status":
        return client().refund_status(args[0])
    if op == "parse_refund":
        return client().parse_refund_notification(args[0].encode(), args[1]).__dict__
    if op == "signed_refund":
        raw_body, headers = tollgate.signed_refund_notification(*args)
        return {"body": raw_body.decode(), "headers": headers}
    if op == "events":
        return list(client().events(args[0], limit=args[1]))
    if op == "verify":
        return client().verify_notification(args[0].encode(), args[1], args[2])
    if op == "parse":
        return client().parse_notification(args[0].encode(), args[1]).__dict__
    if op == "signed":
        raw_body, headers = tollgate.signed_notification(*args)
        return {"body": raw_body.decode(), "headers": headers}
    if op == "store":
        return exercise(store(*args))
    raise ValueError(op)


def store(kind, folder):
    if kind == "memory":
        return tollgate.MemoryStore()
    return tollgate.FileStore(folder) if kind == "file" else tollgate.SqlStore(lambda: sqlite3.connect(folder + "/db"))


def exercise(store):
    results = [store.claim("k", "a", 60), store.claim("k", "b", 60)]
    store.release("k", "b")
    results.append(store.claim("k", "b", 60))
    store.release("k", "a")
    results.append(store.claim("k", "b", 0.05))
    time.sleep(0.06)
    results.append(store.claim("k", "c", 60))
    store.release("k", "b")
    results.append(store.claim("k", "d", 60))
    store.complete("k", "c")
    store.release("k", "c")
    results.append(store.claim("k", "e", 60))
    results.append(store.claim("another", "e", 60))
    return results


for line in sys.stdin:
    request = json.loads(line)
    try:
        answer = {"result": run(request["op"], lambda: tollgate.Client(**request["client"]), request["args"])}
    except tollgate.TollgateError as error:
        answer = {"error": {"class": type(error).__name__, "message": str(error), **error.__dict__}}
    print(json.dumps(answer, default=float), flush=True)
