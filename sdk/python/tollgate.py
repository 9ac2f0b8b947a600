"""The merchant's side of a Tollgate payment gateway.

Python 3.9 or later, standard library only. README.md beside this file begins with an example.

Amounts are text in major units ("25.00") or integers of minor units (total_minor=2500). Floats are refused.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import hashlib
import hmac
import http.client
import json
import os
import random
import re
import secrets
import socket
import threading
import time
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Callable, Dict, Iterator, Mapping, NamedTuple, Optional, Protocol, Sequence, Tuple, Union
from urllib.error import URLError
from urllib.parse import urlencode, urlsplit
from urllib.request import HTTPErrorProcessor, Request, build_opener

__version__ = "0.2.0"
__all__ = [
    "Client", "FileStore", "HandlerError", "InvalidInputError", "MemoryStore", "MismatchError", "Notification",
    "NotificationError", "OutcomeUnknownError", "RefundChange", "RefundNotification", "RefusedError", "Result", "Signature",
    "SignatureError", "SqlStore", "StatusChange", "Store", "TollgateError", "UnavailableError", "signed_notification",
    "signed_refund_notification",
]  # fmt: skip

_LARGEST_ANSWER = 16 * 1024 * 1024  # bytes; a page of 500 events is far smaller
_LONGEST_BACKOFF = 8.0  # seconds
_LONGEST_RETRY_AFTER = 30.0  # seconds; a longer Retry-After is left to the caller
_HANDLER_TIMEOUT = 5.0  # seconds for a status check in a handler; the gateway waits 10 in all
_SMALLEST_KEY = 16  # bytes of an IPN secret; a missing setting must not become an empty key

_DECIMALS = {
    **dict.fromkeys(
        "GHS USD GBP EUR NGN KES TZS ZAR ZMW BWP CDF EGP ETB GMD LRD LSL MAD MGA MWK MZN NAD SLE SSP SZL ZWG".split(), 2
    ),
    **dict.fromkeys("UGX RWF XOF XAF BIF DJF GNF KMF".split(), 0),
}


# Errors


class TollgateError(Exception):
    """The base of all errors. The message says what to do.

    code: for programs, such as GW-012, outcome_unknown or signature_mismatch.
    field: the name of the wrong field, or None.
    request_id: the gateway's id of the request, by which its operator finds it, or None.
    """

    def __init__(self, message: str, code: str, field: Optional[str] = None, request_id: Optional[str] = None):
        super().__init__(message)
        self.code = code
        self.field = field
        self.request_id = request_id


class InvalidInputError(TollgateError):
    """An argument is wrong. Nothing was sent. The code is invalid_input, or currency_unknown."""

    def __init__(self, field: str, message: str, code: str = "invalid_input"):
        super().__init__(f"{field}: {message}", code, field)


class RefusedError(TollgateError):
    """The gateway refused the request, and repeating it does not help.

    code: the gateway's, such as GW-012, or http_404 if the answer is not the gateway's.
    http_status: the HTTP status that the answer has, or would have without the setting errors_as_200.
    hint: for a wrong signature in test mode: hashed_string and likely_mistake. Otherwise None.
    left: what may still be refunded, in major units, if a refund is more than that (GW-020, GW-026). Otherwise None.
    """

    def __init__(
        self,
        message: str,
        code: str,
        http_status: int,
        field: Optional[str] = None,
        request_id: Optional[str] = None,
        hint: Optional[Dict[str, str]] = None,
        left: Optional[str] = None,
    ):
        super().__init__(message, code, field, request_id)
        self.http_status = http_status
        self.hint = hint
        self.left = left


class UnavailableError(TollgateError):
    """There is no usable answer after all tries: a timeout, a lost connection, 429 or 5xx. Call again later.

    The code is gateway_unavailable. It says nothing about the payment.
    http_status: of the last answer, or None.
    retry_after: the seconds that the gateway asks to wait, or None.
    """

    def __init__(
        self,
        message: str,
        code: str = "gateway_unavailable",
        http_status: Optional[int] = None,
        retry_after: Optional[int] = None,
        request_id: Optional[str] = None,
    ):
        super().__init__(message, code, None, request_id)
        self.http_status = http_status
        self.retry_after = retry_after


class OutcomeUnknownError(UnavailableError):
    """initiate or refund got no usable answer. The payment or refund may be stored or not: this is not a failure.

    Call again with the same values. It never creates a second payment, and never refunds twice. The code is
    outcome_unknown.
    """


class SignatureError(TollgateError):
    """A notification is not signed by the gateway, or too old. Answer 401.

    Codes: signature_missing, signature_mismatch, timestamp_out_of_tolerance.
    """


class NotificationError(TollgateError):
    """A notification cannot be read. Answer 400.

    Codes: notification_malformed, notification_of_refund (parse it by parse_refund_notification).
    """


class MismatchError(TollgateError):
    """The payment at the gateway is not the one of the order. Do not deliver.

    Codes: amount_mismatch, currency_mismatch, invoice_mismatch, reference_mismatch.
    """


class HandlerError(TollgateError):
    """A genuine notification is not completed. The gateway sends it again. __cause__ has the error of your function.

    Codes: order_not_found, handler_failed, handler_busy, store_failed.
    """


# Values


class Signature(NamedTuple):
    hash: str  # hexadecimal
    text: str  # what was hashed; it has no secret


@dataclass(frozen=True)
class Notification:
    """A verified notification. It is a reason to check the status, never a proof of payment."""

    id: str  # the same on every try
    timestamp: int  # of this try, seconds since 1970
    sequence: int  # counts the notifications of the payment; it is read from the id, which is signed
    attempt: int  # the number of this try, which is not signed; 0 if the header is absent
    invoice_id: str
    tx_reference: str
    status: str
    data: Dict[str, Any] = field(repr=False)  # the whole body; it has the customer's data


@dataclass(frozen=True)
class RefundNotification:
    """A verified notification of a refund. It says nothing about the status of the payment, which stays paid."""

    id: str
    timestamp: int
    sequence: int
    attempt: int
    invoice_id: str
    tx_reference: str
    refund_reference: str
    state: str
    data: Dict[str, Any] = field(repr=False)  # the whole body


@dataclass(frozen=True)
class Result:
    """What handle_notification did. Answer the request with `status`, and log `code` and `message`."""

    status: int  # 200 acknowledges; the gateway repeats after any other
    code: str
    message: str
    error: Optional[BaseException] = None


@dataclass(frozen=True)
class StatusChange:
    """The argument of on_status. Act on status, not on the notification, which can be older."""

    status: str  # as the gateway has it now
    payment: Dict[str, Any] = field(repr=False)  # the status record; amount and currency are those of the order
    order: Mapping[str, Any] = field(repr=False)  # what find_order returned
    notification: Notification = field(repr=False)


@dataclass(frozen=True)
class RefundChange:
    """The argument of on_refund. Act on refund, not on the notification, which can be older."""

    refund: Dict[str, Any] = field(repr=False)  # as the gateway has it now: refund_id, amount, state, succeeded_at ...
    payment: Dict[str, Any] = field(repr=False)  # the status record; its status stays paid
    order: Mapping[str, Any] = field(repr=False)  # what find_order returned
    notification: RefundNotification = field(repr=False)


class Store(Protocol):
    """Remembers which changes of status are completed. A key is text such as live:AMA-1042:paid.

    A claim whose process ended expires. Then another process claims the key, and on_status is called again.
    """

    def claim(self, key: str, owner: str, seconds: float) -> str:
        """Claims the key and returns "claimed", unless it is completed ("done") or claimed by another ("busy").

        It must be atomic: of two simultaneous calls, one returns "claimed".
        """

    def complete(self, key: str, owner: str) -> Any:
        """Marks the key as completed, for good."""

    def release(self, key: str, owner: str) -> Any:
        """Removes the claim of this owner. The claim of another owner, and a completed key, stay."""


# The client


class Client:
    """Calls a gateway for one merchant in one mode. Safe to share between threads.

    base_url: the address of the gateway, such as https://pay.example.
    merchant_key, merchant_secret: a pair of keys of one mode.
    ipn_secret: the signing secret of notifications (whsec_...) of the same mode, or a list of them while you change it.
    Needed for notifications only.
    timeout: seconds for one try.
    tries: the most tries of one call.
    backoff: seconds before the second try; it doubles with each further try, with jitter.
    tolerance: how many seconds the timestamp of a notification may differ from the clock.
    """

    def __init__(
        self,
        base_url: str,
        merchant_key: str,
        merchant_secret: str,
        ipn_secret: Union[str, Sequence[str], None] = None,
        *,
        timeout: float = 10.0,
        tries: int = 4,
        backoff: float = 0.5,
        tolerance: int = 300,
    ):
        self.base_url = _base_url(base_url)
        self.merchant_key = _text(merchant_key, "merchant_key")
        self._secret = _text(merchant_secret, "merchant_secret").encode()
        self._ipn_keys = [_ipn_key(one) for one in ([ipn_secret] if isinstance(ipn_secret, str) else ipn_secret or [])]
        self.timeout = timeout
        self.tries = max(1, tries)
        self.backoff = backoff
        self.tolerance = tolerance
        self._opener = build_opener(_AnyStatus)

    def sign(self, fields: Mapping[str, Any]) -> Signature:
        """Returns the secure_hash of a payment request, or without a total that of a status check.

        fields: invoice_id and, for a payment request, total or total_minor. For a refund: refund_id, invoice_id and
        amount or amount_minor; for the check of a refund: refund_id alone.
        """
        values = {"merchant_key": self.merchant_key}
        refund_id, invoice_id = fields.get("refund_id"), fields.get("invoice_id")
        if refund_id is None or invoice_id is not None:
            values["invoice_id"] = _text(invoice_id, "invoice_id")
        if refund_id is not None:
            values["refund_id"] = _refund_id(refund_id)
        for name in ("amount", "total"):
            value = _amount(fields, fields.get("currency"), "", name)
            if value is not None:
                values[name] = value
        text = "&".join(f"{name}={values[name]}" for name in sorted(values))
        return Signature(self._hmac(text), text)

    def initiate(self, order: Mapping[str, Any]) -> Dict[str, Any]:
        """Requests a payment and returns the gateway's answer. Redirect the customer to its checkout_url.

        order: the fields of the interface: invoice_id and total ("25.00") or total_minor (2500), and optionally
        currency, description, success_url, cancelled_url, ipn_url, name, number, email, line_items, extra_...

        Timeouts, lost connections, 429 and 5xx are retried with the same bytes. The gateway stores one payment per
        invoice_id, so calling again with the same order is always safe.

        Raises InvalidInputError, RefusedError, or OutcomeUnknownError after the last try.
        """
        body = self._request_body(order)
        headers = {"Content-Type": "application/json"}
        try:
            return self._call(lambda: Request(f"{self.base_url}/v1/mobile_agents_v2", body, headers))
        except UnavailableError as last:
            raise OutcomeUnknownError(
                f"The outcome for invoice {order['invoice_id']} is unknown: the payment may be stored or not. Call "
                f"initiate again with the same order: it is safe and never creates a second payment. ({last})",
                "outcome_unknown",
                last.http_status,
                last.retry_after,
                last.request_id,
            ) from last

    def status(self, invoice_id: str) -> Dict[str, Any]:
        """Returns the status record of a payment, with amounts as text with two decimals.

        Deliver if status is "paid" and amount and currency are those of your order.

        Raises RefusedError (GW-005: there is no such payment) or UnavailableError.
        """
        return self._status(invoice_id, self.tries, self.timeout)

    def refund(self, order: Mapping[str, Any]) -> Dict[str, Any]:
        """Refunds a paid payment, or a part of it, and returns the refund. Only the state succeeded means that the money
        went back; ask again by refund_status.

        order: refund_id (your own id, 1 to 64 letters, digits, . _ or -), invoice_id, amount ("10.00") or amount_minor
        (1000), and optionally reason. currency is that of the payment, for amount_minor; by default GHS.

        Timeouts, lost connections, 429 and 5xx are retried with the same bytes. The gateway stores one refund per
        refund_id, so calling again with the same values is always safe.

        Raises InvalidInputError, RefusedError, or OutcomeUnknownError after the last try.
        """
        _refuse_floats(order, "")
        amount = _amount(order, order.get("currency"), "", "amount")
        if amount is None:
            raise InvalidInputError("amount", 'is missing; send "10.00", or amount_minor=1000')
        signed = {"refund_id": order.get("refund_id"), "invoice_id": order.get("invoice_id"), "amount": amount}
        _text(signed["invoice_id"], "invoice_id")
        _refund_id(signed["refund_id"])
        fields = {"merchant_key": self.merchant_key, **signed, "secure_hash": self.sign(signed).hash}
        if order.get("reason") is not None:
            fields["reason"] = _text(order["reason"], "reason")
        body = _utf8(json.dumps(fields, ensure_ascii=False))
        headers = {"Content-Type": "application/json"}
        try:
            return _refund(self._call(lambda: Request(f"{self.base_url}/v1/refunds", body, headers)))
        except UnavailableError as last:
            raise OutcomeUnknownError(
                f"The outcome of refund {order['refund_id']} is unknown: it may be stored or not. Call refund again with "
                f"the same values: it is safe and never refunds twice. ({last})",
                "outcome_unknown",
                last.http_status,
                last.retry_after,
                last.request_id,
            ) from last

    def refund_status(self, refund_id: str) -> Dict[str, Any]:
        """Returns the refund as the gateway has it now, with its amount as text with two decimals.

        Raises RefusedError (GW-028: there is no such refund) or UnavailableError.
        """
        signature = self.sign({"refund_id": _refund_id(refund_id)})
        query = urlencode({"merchant_key": self.merchant_key, "secure_hash": signature.hash})
        return _refund(self._call(lambda: Request(f"{self.base_url}/v1/refunds/{refund_id}?{query}")))

    def events(
        self, after: str = "", *, limit: int = 100, follow: bool = False, poll_seconds: float = 5.0
    ) -> Iterator[Dict[str, Any]]:
        """Yields the events after a cursor, the oldest first, each exactly once.

        Each event has cursor, id, sequence, type, status, created_at, body (the exact text of the notification) and
        data (the parsed body). Store event["cursor"] together with your result, and begin with it the next time.

        follow: continue without end, and wait poll_seconds whenever there is nothing new or no answer.
        """
        while True:
            try:
                page = self._page(str(after), limit)
            except UnavailableError:
                if not follow:
                    raise
                page = {"events": [], "next": after, "more": False}
            for event in page["events"]:
                yield {**event, "data": json.loads(event["body"], parse_float=Decimal)}
            after = page["next"]
            if page["more"]:
                continue
            if not follow:
                return
            time.sleep(poll_seconds)

    def verify_notification(self, raw_body: bytes, headers: Any, now: Optional[float] = None) -> None:
        """Raises SignatureError or NotificationError unless the gateway has signed these bytes recently.

        raw_body: the bytes as received, before any parsing.
        headers: a mapping in any letter case, a list of pairs, or a WSGI environ.
        now: seconds since 1970, for tests. The default is the clock.
        """
        self._verify(raw_body, headers, now)

    def parse_notification(self, raw_body: bytes, headers: Any, now: Optional[float] = None) -> Notification:
        """Verifies a notification and returns it."""
        parsed = self._parse(raw_body, headers, now)
        if isinstance(parsed, Notification):
            return parsed
        message = "This notification is about a refund and has no status. Read it by parse_refund_notification."
        raise NotificationError(message, "notification_of_refund")

    def parse_refund_notification(
        self, raw_body: bytes, headers: Any, now: Optional[float] = None
    ) -> RefundNotification:
        """Verifies a notification of a refund and returns it. The gateway sends it only with ipn_refunds=on."""
        parsed = self._parse(raw_body, headers, now)
        if isinstance(parsed, RefundNotification):
            return parsed
        raise NotificationError("The body is not a notification of a refund.", "notification_malformed")

    def handle_notification(
        self,
        raw_body: bytes,
        headers: Any,
        store: Store,
        find_order: Callable[[str], Optional[Mapping[str, Any]]],
        on_status: Callable[[StatusChange], Any],
        *,
        on_refund: Optional[Callable[[RefundChange], Any]] = None,
        lease_seconds: float = 60.0,
    ) -> Result:
        """Handles one notification from its bytes to the HTTP status of the answer.

        It verifies the signature, checks the status at the gateway, compares invoice_id, amount and currency with your
        order, and calls on_status once for each invoice and status.

        find_order: takes an invoice_id. Returns a mapping with total or total_minor, and currency if it is not GHS, or
        None.
        on_status: takes a StatusChange. If it raises, the gateway sends the notification again.
        on_refund: takes a RefundChange, once for each refund and state, if your setting ipn_refunds is on. Without it,
        notifications of refunds are acknowledged and ignored. on_status is never called for a refund.
        lease_seconds: if the process ends while on_status runs, it is called again after this time. It must not run
        longer, and it must tolerate a second call.
        """
        try:
            notification = self._parse(raw_body, headers, None)
            if isinstance(notification, RefundNotification):
                return self._handle_refund(notification, store, find_order, on_refund, lease_seconds)
            if notification.data.get("type") == "test":  # about no payment; it shows that it arrives and is verified
                return Result(200, "ignored", "This is a test notification.")
            return self._handle(notification, store, find_order, on_status, lease_seconds)
        except InvalidInputError:  # a mistake of the program that calls this
            raise
        except TollgateError as error:
            return Result(_answer_to(error), error.code, str(error), error)

    # The invoice is claimed before the status is read, so that an older status is never handled after a newer one. No
    # invoice id contains an asterisk, so the key is never that of a status.
    def _handle(
        self, notification: Notification, store: Store, find_order: Any, on_status: Any, lease_seconds: float
    ) -> Result:
        invoice_id = notification.invoice_id
        invoice = f"{self._mode()}:{invoice_id}"
        with _claimed(store, f"{invoice}:*", lease_seconds):
            payment = self._status(invoice_id, 1, min(self.timeout, _HANDLER_TIMEOUT))
            status = payment["status"]
            with _claimed(store, f"{invoice}:{status}", lease_seconds) as complete:
                if complete is None:
                    return Result(200, "duplicate", f"{invoice_id} is {status} already.")
                order = _matching_order(find_order, payment, notification)
                change = StatusChange(status, payment, order, notification)
                _guarded("handler_failed", "on_status", on_status, change)
                complete()
                return Result(200, "handled", f"{invoice_id} is {status}.")

    # The same for a refund. The status record lists the refunds, so it shows that the refund exists and its state.
    def _handle_refund(
        self, notification: RefundNotification, store: Store, find_order: Any, on_refund: Any, lease_seconds: float
    ) -> Result:
        reference = notification.refund_reference
        if on_refund is None:
            return Result(200, "ignored", f"There is no on_refund for the refund {reference}.")
        key = f"{self._mode()}:*refund:{reference}"
        with _claimed(store, f"{key}:*", lease_seconds):
            payment = self._status(notification.invoice_id, 1, min(self.timeout, _HANDLER_TIMEOUT))
            refund = next((one for one in payment["refunds"] if one["refund_reference"] == reference), None)
            if refund is None:
                message = f"The payment {notification.invoice_id} has no refund {reference}."
                raise MismatchError(message, "reference_mismatch", "refund_reference")
            state = refund["state"]
            with _claimed(store, f"{key}:{state}", lease_seconds) as complete:
                if complete is None:
                    return Result(200, "duplicate", f"The refund {reference} is {state} already.")
                order = _matching_order(find_order, payment, notification)
                change = RefundChange(refund, payment, order, notification)
                _guarded("handler_failed", "on_refund", on_refund, change)
                complete()
                return Result(200, "handled", f"The refund {reference} is {state}.")

    def _mode(self) -> str:
        return "test" if self.merchant_key.startswith("tk_") else "live"

    def _parse(
        self, raw_body: bytes, headers: Any, now: Optional[float]
    ) -> Union[Notification, RefundNotification]:
        sent, timestamp = self._verify(raw_body, headers, now)
        try:
            data = json.loads(raw_body, parse_float=Decimal)
        except ValueError:
            data = None
        is_refund = isinstance(data, dict) and data.get("type") == "refund"
        names = ("invoice_id", "tx_reference") + (("refund_reference", "state") if is_refund else ("status",))
        if not isinstance(data, dict) or not all(isinstance(data.get(name), str) for name in names):
            message = "The body is not a notification. With ipn_style=get there is none: ask your operator for post."
            raise NotificationError(message, "notification_malformed")
        id = sent["webhook-id"]
        counts = (_count(id.rpartition("-N")[2]), _count(sent.get("webhook-attempt")))
        parsed = RefundNotification if is_refund else Notification
        return parsed(id, timestamp, *counts, *(data[name] for name in names), data)

    def _hmac(self, text: str) -> str:
        return hmac.new(self._secret, _utf8(text), hashlib.sha256).hexdigest()

    def _request_body(self, order: Mapping[str, Any]) -> bytes:
        _refuse_floats(order, "")
        currency = order.get("currency") or order.get("extra_currency")  # as the gateway reads it
        fields = {name: value for name, value in order.items() if value is not None and name != "total_minor"}
        total = _amount(order, currency, "")
        if total is None:
            raise InvalidInputError("total", 'is missing; send "25.00", or total_minor=2500')
        fields["total"] = total
        if isinstance(order.get("line_items"), (list, tuple)):
            fields["line_items"] = [_item(item, currency, at) for at, item in enumerate(order["line_items"])]
        fields["merchant_key"] = self.merchant_key
        fields["secure_hash"] = self.sign({"invoice_id": order.get("invoice_id"), "total": total}).hash
        if "pymt_instrument" not in fields:
            fields["generate_checkout_url"] = True
        try:
            return _utf8(json.dumps(fields, ensure_ascii=False))
        except TypeError as error:
            raise InvalidInputError("order", f"must have only texts, integers, booleans and lists ({error})") from None

    def _status(self, invoice_id: str, tries: int, timeout: float) -> Dict[str, Any]:
        signature = self.sign({"invoice_id": invoice_id})
        fields = {"merchant_key": self.merchant_key, "invoice_id": invoice_id, "secure_hash": signature.hash}
        url = f"{self.base_url}/v1/gateway/json_status_chk?{urlencode(fields)}"
        answer = self._call(lambda: Request(url), tries, timeout)
        record = answer.get(invoice_id)  # it has amount as text
        if not isinstance(record, dict) or not isinstance(record.get("status"), str):
            raise UnavailableError(f"The answer has no status record of {invoice_id}. Check base_url.")
        for name in ("total_amount_charged", "reversed_amount", "refunded_amount"):
            if record.get(name) is not None:
                record[name] = f"{Decimal(record[name]):.2f}"
        record["refunds"] = [_refund(one) for one in record.get("refunds") or []]
        return record

    def _page(self, after: str, limit: int) -> Dict[str, Any]:
        def make() -> Request:  # each try has its own time
            now = int(time.time())
            signature = self._hmac(f"{now}.{self.merchant_key}.{after}.{limit}")
            query = urlencode({"merchant_key": self.merchant_key, "after": after, "limit": limit})
            headers = {"x-tollgate-signature": f"t={now},v1={signature}"}
            return Request(f"{self.base_url}/v1/events?{query}", headers=headers)

        return self._call(make)

    def _call(
        self, make: Callable[[], Request], tries: Optional[int] = None, timeout: Optional[float] = None
    ) -> Dict[str, Any]:
        most = tries or self.tries
        for number in range(1, most + 1):
            try:
                return self._try(make(), timeout or self.timeout, number > 1)
            except UnavailableError as failed:
                wait = random.uniform(0.5, 1) * min(self.backoff * 2 ** (number - 1), _LONGEST_BACKOFF)
                wait = max(wait, failed.retry_after or 0)
                if number == most or wait > _LONGEST_RETRY_AFTER:
                    raise
                time.sleep(wait)
        raise AssertionError("unreachable")

    # Raises UnavailableError if another try may help.
    def _try(self, request: Request, timeout: float, is_repeated: bool) -> Dict[str, Any]:
        request.add_header("User-Agent", f"tollgate-python/{__version__}")
        request.add_header("Accept", "application/json")
        try:
            http_status, headers, text = self._exchange(request, timeout)
        except (OSError, http.client.HTTPException) as error:
            cause = error.reason if isinstance(error, URLError) and isinstance(error.reason, Exception) else error
            if isinstance(cause, socket.timeout):
                raise UnavailableError(f"No answer within {timeout:g} s. Call again later.") from cause
            raise UnavailableError(f"The connection failed ({cause}). Check base_url, or call again later.") from cause
        try:
            answer = json.loads(text, parse_float=Decimal)
        except ValueError:
            answer = None
        request_id = headers.get("x-request-id")
        if not isinstance(answer, dict) or not isinstance(answer.get("success"), bool):
            message = f"HTTP {http_status} is not an answer of the gateway. Check base_url and the proxies on the way."
            # After an earlier try, the answer of a proxy does not say whether that try was stored.
            if 300 <= http_status < 500 and not is_repeated:
                raise RefusedError(message, f"http_{http_status}", http_status, None, request_id)
            raise UnavailableError(message, http_status=http_status, request_id=request_id)
        if answer["success"]:
            return answer
        raise _refusal(answer, http_status, request_id, headers.get("retry-after"))

    def _exchange(self, request: Request, timeout: float) -> Tuple[int, Any, bytes]:
        deadline = time.monotonic() + timeout
        with self._opener.open(request, timeout=timeout) as response:
            length = _count(response.headers.get("content-length")) or _LARGEST_ANSWER
            text = bytearray()
            while len(text) < length:
                part = response.read1(65536)
                if not part:
                    break
                text += part
                if time.monotonic() > deadline:
                    raise socket.timeout("the answer is too slow")
                if len(text) > _LARGEST_ANSWER:
                    raise http.client.HTTPException("the answer is too large")
            return response.status, response.headers, bytes(text)

    def _verify(self, raw_body: bytes, headers: Any, now: Optional[float]) -> Tuple[Dict[str, str], int]:
        if not self._ipn_keys:
            raise InvalidInputError("ipn_secret", "is missing; give the client the whsec_ secret of this mode")
        if not isinstance(raw_body, (bytes, bytearray)):
            raise InvalidInputError("raw_body", "must be the bytes as received, before any decoding or parsing")
        sent = _webhook_headers(headers)
        for name in ("webhook-id", "webhook-timestamp", "webhook-signature"):
            if not sent.get(name):
                message = f"{name} is missing: the gateway did not send this, or a proxy removed the header."
                raise SignatureError(message, "signature_missing", name)
        timestamp = sent["webhook-timestamp"]
        if not re.fullmatch("[0-9]{1,15}", timestamp):
            raise NotificationError("webhook-timestamp must be seconds since 1970.", "notification_malformed")
        keys = self._ipn_keys
        right = [_notification_signature(key, sent["webhook-id"], timestamp, raw_body).encode() for key in keys]
        signatures = [one.encode() for one in sent["webhook-signature"].split(" ")]
        matches = [hmac.compare_digest(one, other) for one in right for other in signatures]
        if not any(matches):
            message = (
                "webhook-signature does not match. Check that ipn_secret is the current one of this mode, and that the "
                "body is passed on byte for byte."
            )
            raise SignatureError(message, "signature_mismatch", "webhook-signature")
        if abs((time.time() if now is None else now) - int(timestamp)) > self.tolerance:
            message = f"webhook-timestamp is more than {self.tolerance} s away from this clock. Is the clock right?"
            raise SignatureError(message, "timestamp_out_of_tolerance", "webhook-timestamp")
        return sent, int(timestamp)


# Returns an answer with any status. Redirects are not followed, because a POST would become a GET.
class _AnyStatus(HTTPErrorProcessor):
    def http_response(self, request: Request, response: Any) -> Any:
        return response

    https_response = http_response


def _refusal(answer: Dict[str, Any], http_status: int, request_id: Optional[str], retry_after: Any) -> TollgateError:
    error = answer["error"] if isinstance(answer.get("error"), dict) else {}
    code = str(error.get("code", f"http_{http_status}"))
    # With errors_as_200 the HTTP status is 200, and status_code has the real one.
    status = answer["status_code"] if isinstance(answer.get("status_code"), int) else http_status
    request_id = answer.get("request_id") or request_id
    message = f"{code}: {answer.get('message') or 'no message'}"
    if status in (408, 429) or status >= 500:
        text = f"{message} (request {request_id})"
        return UnavailableError(text, "gateway_unavailable", status, _count(retry_after) or None, request_id)
    hint = error["hint"] if isinstance(error.get("hint"), dict) else None
    if hint:
        message += f" (likely mistake: {hint.get('likely_mistake')}; hashed string: {hint.get('hashed_string')})"
    advice = _ADVICE.get((code, status)) or _ADVICE.get(code) or "Correct the request."
    text = f"{message}. {advice} (request {request_id})"
    left = None if error.get("left") is None else f"{Decimal(error['left']):.2f}"
    return RefusedError(text, code, status, error.get("field"), request_id, hint, left)


_ADVICE: Dict[Any, str] = {
    ("GW-005", 404): "Check invoice_id and whether the keys are of the right mode.",
    ("GW-005", 409): "Use a new invoice_id for a new payment, or repeat the first order without changes.",
    "GW-008": "Check merchant_key and base_url.",
    "GW-009": "Contact the operator of the gateway.",
    "GW-010": "Check merchant_secret: it must belong to merchant_key. For the feed, check the clock too.",
    "GW-012": "Correct the named field.",
    "GW-013": "Send less.",
    "GW-020": "Refund at most what is left.",
    "GW-022": "Ask the operator of the gateway to allow refunds.",
    "GW-027": "Use a new refund_id for a new refund, or repeat the first request without changes.",
    "GW-028": "Check refund_id and whether the keys are of the right mode.",
    "not_found": "Check base_url.",
    "method_not_allowed": "Check base_url.",
}


# Amounts


# Returns the amount as text, or None if there is none.
def _amount(fields: Mapping[str, Any], currency: Any, path: str, name: str = "total") -> Optional[str]:
    total, minor = fields.get(name), fields.get(f"{name}_minor")
    if minor is not None:
        if total is not None:
            raise InvalidInputError(f"{path}{name}_minor", f"send {name} or {name}_minor, not both")
        return _from_minor(minor, currency or "GHS", f"{path}{name}_minor")
    if total is None or isinstance(total, str):
        return total
    if isinstance(total, Decimal) and total.is_finite():
        return format(total, "f")
    if isinstance(total, int) and not isinstance(total, bool):
        raise InvalidInputError(
            f"{path}{name}",
            f'an integer has no clear unit; write {name}="{total}.00" for major units or {name}_minor={total} for minor '
            "units",
        )
    raise InvalidInputError(f"{path}{name}", f'must be text such as "25.00", not {type(total).__name__}')


def _from_minor(minor: Any, currency: str, name: str) -> str:
    if not isinstance(minor, int) or isinstance(minor, bool) or minor < 0:
        raise InvalidInputError(name, f"must be an integer of minor units, not {minor!r}")
    places = _DECIMALS.get(currency)
    if places is None:
        message = f"this version does not know the decimals of {currency}; update it, or send total as text"
        raise InvalidInputError(name, message, "currency_unknown")
    return str(minor) if places == 0 else f"{minor // 100}.{minor % 100:02d}"


# It becomes a part of an address, so other characters are never sent.
def _refund_id(refund_id: Any) -> str:
    if not isinstance(refund_id, str) or not re.fullmatch(r"(?!\.{1,2}$)[A-Za-z0-9._-]{1,64}", refund_id):
        raise InvalidInputError("refund_id", "must be 1 to 64 letters, digits, . _ or -")
    return refund_id


# A refund with its amount as text, as in a status record.
def _refund(answer: Dict[str, Any]) -> Dict[str, Any]:
    return {**answer, "amount": f"{Decimal(answer['amount']):.2f}"}


def _item(item: Any, currency: Any, at: int) -> Any:
    if not isinstance(item, Mapping):
        return item
    total = _amount(item, currency, f"line_items[{at}].")
    others = {name: value for name, value in item.items() if name != "total_minor" and value is not None}
    return others if total is None else {**others, "total": total}


def _refuse_floats(value: Any, path: str) -> None:
    if isinstance(value, float):
        message = 'is a float, which cannot hold an amount exactly; write text such as "25.00", or total_minor=2500'
        raise InvalidInputError(path, message)
    if isinstance(value, Mapping):
        for name, inner in value.items():
            _refuse_floats(inner, f"{path}.{name}" if path else str(name))
    elif isinstance(value, (list, tuple)):
        for at, inner in enumerate(value):
            _refuse_floats(inner, f"{path}[{at}]")


# Raises MismatchError if the payment is not the one that the order expects.
def _compare(
    payment: Mapping[str, Any], order: Mapping[str, Any], notification: Union[Notification, RefundNotification]
) -> None:
    currency = order.get("currency") or "GHS"
    total = _amount(order, currency, "")
    if total is None or not re.fullmatch(r"[0-9]+(\.[0-9]+)?", total):
        raise InvalidInputError("total", f'must be text such as "25.00", or total_minor (got {total!r})')
    invoice_id = notification.invoice_id
    for code, field, expected, actual in (
        ("invoice_mismatch", "invoice_id", order.get("invoice_id", invoice_id), invoice_id),
        ("invoice_mismatch", "invoice_id", invoice_id, payment["invoice_id"]),
        ("reference_mismatch", "tx_reference", notification.tx_reference, payment["tx_reference"]),
        ("currency_mismatch", "currency", currency, payment["currency"]),
        ("amount_mismatch", "amount", Decimal(total), Decimal(payment["amount"])),
    ):
        if expected != actual:
            difference = f"{invoice_id}: the order has {field} {expected}, the payment has {actual}."
            raise MismatchError(f"{difference} Do not deliver; find out why.", code, field)


# The order of a payment, which must be the one that the notification is about.
def _matching_order(
    find_order: Any, payment: Mapping[str, Any], notification: Union[Notification, RefundNotification]
) -> Mapping[str, Any]:
    invoice_id = notification.invoice_id
    order = _guarded("handler_failed", "find_order", find_order, invoice_id)
    if order is None:
        message = f"find_order has no order {invoice_id}. Store the order before you call initiate."
        raise HandlerError(message, "order_not_found")
    _guarded("handler_failed", "find_order", _compare, payment, order, notification)
    return order


# Calls a function of the merchant. Its errors become a HandlerError.
def _guarded(code: str, name: str, function: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except MismatchError:
        raise
    except Exception as error:
        raise HandlerError(f"{name} failed: {error!r}. The gateway sends the notification again.", code) from error


# Claims a key for the body of a with statement, and releases it unless the body calls the function that it gets. The
# body gets None if the key is completed.
@contextlib.contextmanager
def _claimed(store: Store, key: str, seconds: float) -> Iterator[Optional[Callable[[], None]]]:
    owner = secrets.token_hex(16)
    answer = _guarded("store_failed", "store.claim", store.claim, key, owner, seconds)
    if answer not in ("claimed", "done"):
        raise HandlerError(f"Another call for {key} has not ended. The gateway sends it again.", "handler_busy")
    if answer == "done":
        yield None
        return
    is_open = True

    def complete() -> None:
        nonlocal is_open
        _guarded("store_failed", "store.complete", store.complete, key, owner)
        is_open = False

    try:
        yield complete
    finally:
        if is_open:
            with contextlib.suppress(Exception):  # the claim expires instead
                store.release(key, owner)


# The HTTP status for the sender: 4xx if the gateway did not send this, 5xx if it must send it again.
def _answer_to(error: TollgateError) -> int:
    if isinstance(error, SignatureError):
        return 401
    if isinstance(error, NotificationError):
        return 400
    return 503 if isinstance(error, UnavailableError) or error.code in ("handler_busy", "order_not_found") else 500


# Notifications


def _ipn_key(secret: str) -> bytes:
    try:
        key = base64.b64decode(_text(secret, "ipn_secret").removeprefix("whsec_"), validate=True)
    except binascii.Error:
        key = b""
    if not secret.startswith("whsec_") or len(key) < _SMALLEST_KEY:
        raise InvalidInputError("ipn_secret", "must be the signing secret, which begins with whsec_")
    return key


def _notification_signature(key: bytes, id: str, timestamp: str, raw_body: bytes) -> str:
    text = f"{id}.{timestamp}.".encode("latin-1") + raw_body
    return "v1," + base64.b64encode(hmac.new(key, text, hashlib.sha256).digest()).decode()


# The webhook- headers by their lower-case name. WSGI writes HTTP_WEBHOOK_ID for webhook-id.
def _webhook_headers(headers: Any) -> Dict[str, str]:
    pairs = headers.items() if hasattr(headers, "items") else headers
    found: Dict[str, str] = {}
    for raw_name, raw_value in pairs:
        name = _latin(raw_name).lower().replace("_", "-")
        name = name[5:] if name.startswith("http-webhook-") else name
        if not name.startswith("webhook-"):
            continue
        for one in raw_value if isinstance(raw_value, (list, tuple)) else [raw_value]:
            value = _latin(one).strip()
            if found.setdefault(name, value) != value or not value.isascii():
                raise NotificationError(f"{name} is not ASCII or is sent twice.", "notification_malformed", name)
    return found


_latin = lambda value: value.decode("latin-1") if isinstance(value, bytes) else str(value)  # noqa: E731


def signed_notification(
    fields: Mapping[str, Any],
    ipn_secret: str,
    *,
    timestamp: Optional[int] = None,
    sequence: int = 1,
    attempt: int = 1,
) -> Tuple[bytes, Dict[str, str]]:
    """For tests: returns the bytes and headers of a notification as the gateway signs it.

    fields: replace those of a paid payment of 25.00 GHS, such as invoice_id, tx_reference, status and amount.
    timestamp: seconds since 1970. The default is the clock.
    """
    data: Dict[str, Any] = {
        "invoice_id": "TEST-1",
        "tx_reference": "TG-TEST-1",
        "status": "paid",
        "amount": 25,
        "status_reason": "",
        "payment_method": "mtn_mobile_money",
        "payment_time": "2026-03-02T09:30:00.000Z",
        "currency": "GHS",
        "extra": {},
        **fields,
    }
    data["invoice"] = data["invoice_id"]
    return _signed(data, ipn_secret, timestamp, sequence, attempt)


def signed_refund_notification(
    fields: Mapping[str, Any],
    ipn_secret: str,
    *,
    timestamp: Optional[int] = None,
    sequence: int = 1,
    attempt: int = 1,
) -> Tuple[bytes, Dict[str, str]]:
    """For tests: returns the bytes and headers of a notification of a refund as the gateway signs it.

    fields: replace those of a refund of 10.00 GHS that succeeded, such as invoice_id, refund_id, amount and state.
    """
    data: Dict[str, Any] = {
        "type": "refund",
        "refund_id": "R-TEST-1",
        "refund_reference": "refund-test-1",
        "invoice_id": "TEST-1",
        "tx_reference": "TG-TEST-1",
        "amount": 10,
        "currency": "GHS",
        "state": "succeeded",
        "state_reason": "",
        "reason": "",
        "source": "payment",
        "kind": "provider",
        "requested_at": "2026-03-02T09:30:00.000Z",
        "succeeded_at": "2026-03-02T09:30:00.000Z",
        **fields,
    }
    return _signed(data, ipn_secret, timestamp, sequence, attempt)


def _signed(
    data: Mapping[str, Any], ipn_secret: str, timestamp: Optional[int], sequence: int, attempt: int
) -> Tuple[bytes, Dict[str, str]]:
    raw_body = json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()
    id = f"{data['tx_reference']}-N{sequence}"
    time_text = str(int(time.time()) if timestamp is None else timestamp)
    return raw_body, {
        "content-type": "application/json",
        "webhook-id": id,
        "webhook-timestamp": time_text,
        "webhook-signature": _notification_signature(_ipn_key(ipn_secret), id, time_text, raw_body),
        "webhook-attempt": str(attempt),
        "webhook-sequence": str(sequence),
    }


# Stores


class MemoryStore:
    """For tests and development, in one process. A restart forgets everything."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rows: Dict[str, Dict[str, Any]] = {}

    def claim(self, key: str, owner: str, seconds: float) -> str:
        with self._locked():
            row = self._read(key)
            if row and row["done"]:
                return "done"
            if row and row["until"] > time.time():
                return "busy"
            self._write(key, {"key": key, "owner": owner, "until": time.time() + seconds, "done": False})
            return "claimed"

    def complete(self, key: str, owner: str) -> None:
        with self._locked():
            self._write(key, {"key": key, "owner": owner, "until": 0, "done": True})

    def release(self, key: str, owner: str) -> None:
        with self._locked():
            row = self._read(key)
            if row and row["owner"] == owner and not row["done"]:
                self._remove(key)

    def _locked(self) -> Any:
        return self._lock

    def _read(self, key: str) -> Optional[Dict[str, Any]]:
        return self._rows.get(key)

    def _write(self, key: str, row: Dict[str, Any]) -> None:
        self._rows[key] = row

    def _remove(self, key: str) -> None:
        del self._rows[key]


class FileStore(MemoryStore):
    """A folder with one small file per key, for the processes of one machine. It needs flock, so not Windows."""

    def __init__(self, folder: str) -> None:
        super().__init__()
        os.makedirs(folder, mode=0o700, exist_ok=True)
        self._folder = folder

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        import fcntl

        with self._lock, open(os.path.join(self._folder, "lock"), "a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # ends when the file is closed, also by the end of the process
            yield

    def _path(self, key: str) -> str:
        return os.path.join(self._folder, hashlib.sha256(key.encode()).hexdigest() + ".json")

    def _read(self, key: str) -> Optional[Dict[str, Any]]:
        try:
            with open(self._path(key), encoding="utf-8") as file:
                return json.load(file)
        except FileNotFoundError:
            return None

    # The rename is atomic, so a crash leaves the old file or the new one.
    def _write(self, key: str, row: Dict[str, Any]) -> None:
        path = self._path(key)
        with open(path + ".new", "w", encoding="utf-8") as file:
            json.dump(row, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(path + ".new", path)

    def _remove(self, key: str) -> None:
        os.remove(self._path(key))


class SqlStore:
    """A table of your database, for any number of machines: SQLite 3.24 or later, or PostgreSQL.

    connect: returns a new DB-API connection, such as lambda: sqlite3.connect("shop.db").
    placeholder: "?" for sqlite3, "%s" for psycopg.

    Completed keys stay. Their until_ms is the time of completion, for a cleanup of your own.
    """

    def __init__(self, connect: Callable[[], Any], placeholder: str = "?") -> None:
        self._connect = connect
        self._placeholder = placeholder
        self._run(
            "create table if not exists tollgate_claims (claim_key varchar(128) primary key,"
            " owner varchar(64) not null, until_ms bigint not null, done smallint not null)"
        )

    def claim(self, key: str, owner: str, seconds: float) -> str:
        now = int(time.time() * 1000)
        count, _ = self._run(
            "insert into tollgate_claims (claim_key, owner, until_ms, done) values (?, ?, ?, 0)"
            " on conflict (claim_key) do update set owner = excluded.owner, until_ms = excluded.until_ms"
            " where tollgate_claims.done = 0 and tollgate_claims.until_ms <= ?",
            key,
            owner,
            now + int(seconds * 1000),
            now,
        )
        if count == 1:
            return "claimed"
        _, row = self._run("select done from tollgate_claims where claim_key = ?", key)
        return "done" if row and row[0] else "busy"

    def complete(self, key: str, owner: str) -> None:
        self._run(
            "insert into tollgate_claims (claim_key, owner, until_ms, done) values (?, ?, ?, 1)"
            " on conflict (claim_key) do update set owner = excluded.owner, until_ms = excluded.until_ms, done = 1",
            key,
            owner,
            int(time.time() * 1000),
        )

    def release(self, key: str, owner: str) -> None:
        self._run("delete from tollgate_claims where claim_key = ? and owner = ? and done = 0", key, owner)

    # Runs one statement in its own transaction. Returns the number of rows and, of a select, the first.
    def _run(self, statement: str, *values: Any) -> Tuple[int, Any]:
        with contextlib.closing(self._connect()) as connection:
            with contextlib.closing(connection.cursor()) as cursor:
                cursor.execute(statement.replace("?", self._placeholder), values)
                result = cursor.rowcount, cursor.fetchone() if cursor.description else None
            connection.commit()
            return result


# Arguments


def _base_url(url: str) -> str:
    parts = urlsplit(_text(url, "base_url"))
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise InvalidInputError("base_url", "must be an address such as https://pay.example")
    return url.rstrip("/")


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str) or value == "":
        raise InvalidInputError(name, "must be text, and not empty")
    return value


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise InvalidInputError("order", "a text has broken Unicode (a lone surrogate)") from None


# A number in a header, or 0.
def _count(text: Any) -> int:
    return int(text) if isinstance(text, str) and re.fullmatch("[0-9]{1,15}", text) else 0
