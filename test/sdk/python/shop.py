# A shop for test/sdk/suite.ts. Its orders are in a JSON file, and each call of on_status is a line of another file. Every
# request has its own process, so one of them can die.
import json
import os
import socketserver
import sqlite3
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

sys.path.insert(0, sys.argv[1])
import tollgate  # noqa: E402

settings = json.loads(os.environ["SHOP"])
client = tollgate.Client(**settings["client"])
folder = settings["folder"]
store = (
    tollgate.FileStore(folder + "/store")
    if settings["store"] == "file"
    else tollgate.SqlStore(lambda: sqlite3.connect(folder + "/store.db"))
)


def find_order(invoice_id):
    with open(folder + "/orders.json") as file:
        return json.load(file).get(invoice_id)


def on_status(change):
    order = change.order
    with open(folder + "/calls", "a+") as file:
        file.seek(0)
        count = sum(line.startswith(order["invoice_id"] + " ") for line in file)
        file.write(f"{order['invoice_id']} {change.status} {change.payment['amount']}\n")
    if count == 0 and order.get("first") == "fails":
        raise RuntimeError("the warehouse is closed")
    if count == 0 and order.get("first") == "dies":
        os._exit(1)
    time.sleep(order.get("seconds", 0))


def on_refund(change):
    with open(folder + "/calls", "a") as file:
        file.write(f"{change.order['invoice_id']} refund.{change.refund['state']} {change.refund['amount']}\n")


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        raw_body = self.rfile.read(int(self.headers["content-length"]))
        result = client.handle_notification(
            raw_body,
            self.headers,
            store,
            find_order,
            on_status,
            on_refund=on_refund,
            lease_seconds=settings["lease_seconds"],
        )
        self.send_response(result.status)
        self.end_headers()
        self.wfile.write(result.code.encode())

    def log_message(self, *args):
        pass


class Server(socketserver.ForkingMixIn, HTTPServer):
    pass


Server(("127.0.0.1", settings["port"]), Handler).serve_forever()
