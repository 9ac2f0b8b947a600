<?php

// The merchant's side of a Tollgate payment gateway. PHP 8.1 or later with curl and json. README.md beside this file
// begins with an example.
//
// Amounts are text in major units ('25.00') or integers of minor units ('total_minor' => 2500). Floats are refused.

declare(strict_types=1);

namespace Tollgate;

/**
 * Calls a gateway for one merchant in one mode.
 */
final class Client
{
    public const VERSION = '0.2.0';

    private const LARGEST_ANSWER = 16 * 1024 * 1024; // bytes; a page of 500 events is far smaller
    private const LONGEST_BACKOFF = 8.0; // seconds
    private const LONGEST_RETRY_AFTER = 30; // seconds; a longer Retry-After is left to the caller
    private const HANDLER_TIMEOUT = 5.0; // seconds for a status check in a handler; the gateway waits 10 in all

    private const ADVICE = [
        'GW-005 404' => 'Check invoice_id and whether the keys are of the right mode.',
        'GW-005 409' => 'Use a new invoice_id for a new payment, or repeat the first order without changes.',
        'GW-008' => 'Check merchantKey and baseUrl.',
        'GW-009' => 'Contact the operator of the gateway.',
        'GW-010' => 'Check merchantSecret: it must belong to merchantKey. For the feed, check the clock too.',
        'GW-012' => 'Correct the named field.',
        'GW-013' => 'Send less.',
        'GW-020' => 'Refund at most what is left.',
        'GW-022' => 'Ask the operator of the gateway to allow refunds.',
        'GW-027' => 'Use a new refund_id for a new refund, or repeat the first request without changes.',
        'GW-028' => 'Check refund_id and whether the keys are of the right mode.',
        'not_found' => 'Check baseUrl.',
        'method_not_allowed' => 'Check baseUrl.',
    ];

    private readonly string $baseUrl;
    /** @var list<string> */
    private readonly array $ipnKeys;

    /**
     * @param string $baseUrl the address of the gateway, such as https://pay.example
     * @param string $merchantKey begins with tk_ (test) or lk_ (live)
     * @param string $merchantSecret the secret key of the same pair; it is never sent
     * @param string|list<string>|null $ipnSecret the signing secret of notifications (whsec_...) of the same mode, or
     *     several while you change it; needed for notifications only
     * @param float $timeout seconds for one try
     * @param int $tries the most tries of one call
     * @param float $backoff seconds before the second try; it doubles with each further try, with jitter
     * @param int $tolerance how many seconds the timestamp of a notification may differ from the clock
     */
    public function __construct(
        string $baseUrl,
        private readonly string $merchantKey,
        #[\SensitiveParameter] private readonly string $merchantSecret,
        #[\SensitiveParameter] string|array|null $ipnSecret = null,
        private readonly float $timeout = 10.0,
        private readonly int $tries = 4,
        private readonly float $backoff = 0.5,
        private readonly int $tolerance = 300,
    ) {
        if (preg_match('~^https?://[^/?#@\s]+(/[^?#\s]*)?$~D', $baseUrl) !== 1) {
            throw new InvalidInputError('baseUrl', 'must be an address such as https://pay.example');
        }
        $this->baseUrl = rtrim($baseUrl, '/');
        self::mustBeText($merchantKey, 'merchantKey');
        self::mustBeText($merchantSecret, 'merchantSecret');
        $this->ipnKeys = array_map(Signatures::ipnKey(...), array_values((array) $ipnSecret));
    }

    /** Keeps the secrets out of var_dump. */
    public function __debugInfo(): array
    {
        return ['baseUrl' => $this->baseUrl, 'merchantKey' => $this->merchantKey];
    }

    /**
     * Returns the secure_hash of a payment request, or without a total that of a status check.
     *
     * @param array<string, mixed> $fields invoice_id and, for a payment request, total or total_minor; for a refund
     *     refund_id, invoice_id and amount or amount_minor; for the check of a refund refund_id alone
     */
    public function sign(array $fields): Signature
    {
        $currency = $fields['currency'] ?? null;
        $isRefund = isset($fields['refund_id']);
        $values = [
            'amount' => Amounts::text($fields, $currency, '', 'amount'),
            'invoice_id' => $isRefund && !isset($fields['invoice_id'])
                ? null
                : self::mustBeText($fields['invoice_id'] ?? null, 'invoice_id'),
            'merchant_key' => $this->merchantKey,
            'refund_id' => $isRefund ? self::mustBeRefundId($fields['refund_id']) : null,
            'total' => Amounts::text($fields, $currency),
        ];
        $pairs = [];
        foreach ($values as $name => $value) {
            if ($value !== null) {
                $pairs[] = "$name=$value";
            }
        }
        $text = implode('&', $pairs);
        return new Signature($this->hmac($text), $text);
    }

    /**
     * Requests a payment and returns the gateway's answer. Redirect the customer to its checkout_url.
     *
     * Timeouts, lost connections, 429 and 5xx are retried with the same bytes. The gateway stores one payment per
     * invoice_id, so calling again with the same order is always safe.
     *
     * @param array<string, mixed> $order the fields of the interface: invoice_id and total ('25.00') or total_minor
     *     (2500), and optionally currency, description, success_url, cancelled_url, ipn_url, name, number, email,
     *     line_items, extra_...
     * @return array<string, mixed>
     * @throws InvalidInputError nothing was sent
     * @throws RefusedError the gateway refused it
     * @throws OutcomeUnknownError after the last try; call again with the same order
     */
    public function initiate(array $order): array
    {
        $body = $this->requestBody($order);
        try {
            return $this->call(fn () => ['/v1/mobile_agents_v2', ['Content-Type: application/json'], $body]);
        } catch (UnavailableError $last) {
            throw new OutcomeUnknownError(
                "The outcome for invoice {$order['invoice_id']} is unknown: the payment may be stored or not. Call "
                . 'initiate again with the same order: it is safe and never creates a second payment. '
                . "({$last->getMessage()})",
                'outcome_unknown',
                $last->httpStatus,
                $last->retryAfter,
                $last->requestId,
                $last,
            );
        }
    }

    /**
     * Returns the status record of a payment, with amounts as text with two decimals. Deliver if status is 'paid' and
     * amount and currency are those of your order.
     *
     * @return array<string, mixed>
     * @throws RefusedError GW-005: there is no such payment
     * @throws UnavailableError
     */
    public function status(string $invoiceId): array
    {
        return $this->checkStatus($invoiceId, $this->tries, $this->timeout);
    }

    /**
     * Refunds a paid payment, or a part of it, and returns the refund. Only the state succeeded means that the money
     * went back; ask again by refundStatus.
     *
     * Timeouts, lost connections, 429 and 5xx are retried with the same bytes. The gateway stores one refund per
     * refund_id, so calling again with the same values is always safe.
     *
     * @param array<string, mixed> $order refund_id (your own id, 1 to 64 letters, digits, . _ or -), invoice_id, amount
     *     ('10.00') or amount_minor (1000), and optionally reason; currency is that of the payment, for amount_minor
     * @return array<string, mixed>
     * @throws InvalidInputError nothing was sent
     * @throws RefusedError the gateway refused it
     * @throws OutcomeUnknownError after the last try; call again with the same values
     */
    public function refund(array $order): array
    {
        Amounts::refuseFloats($order, '');
        $amount = Amounts::text($order, $order['currency'] ?? null, '', 'amount')
            ?? throw new InvalidInputError('amount', "is missing; send '10.00', or 'amount_minor' => 1000");
        $signed = [
            'refund_id' => self::mustBeRefundId($order['refund_id'] ?? null),
            'invoice_id' => self::mustBeText($order['invoice_id'] ?? null, 'invoice_id'),
            'amount' => $amount,
        ];
        $fields = $signed + ['merchant_key' => $this->merchantKey, 'secure_hash' => $this->sign($signed)->hash];
        if (isset($order['reason'])) {
            $fields['reason'] = self::mustBeText($order['reason'], 'reason');
        }
        try {
            $body = json_encode($fields, JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES);
        } catch (\JsonException $error) {
            throw new InvalidInputError('order', "must have only UTF-8 texts ({$error->getMessage()})");
        }
        try {
            return self::readRefund(
                $this->call(fn () => ['/v1/refunds', ['Content-Type: application/json'], $body]),
            );
        } catch (UnavailableError $last) {
            throw new OutcomeUnknownError(
                "The outcome of refund {$signed['refund_id']} is unknown: it may be stored or not. Call refund again "
                . "with the same values: it is safe and never refunds twice. ({$last->getMessage()})",
                'outcome_unknown',
                $last->httpStatus,
                $last->retryAfter,
                $last->requestId,
                $last,
            );
        }
    }

    /**
     * Returns the refund as the gateway has it now, with its amount as text with two decimals.
     *
     * @return array<string, mixed>
     * @throws RefusedError GW-028: there is no such refund
     * @throws UnavailableError
     */
    public function refundStatus(string $refundId): array
    {
        $query = http_build_query([
            'merchant_key' => $this->merchantKey,
            'secure_hash' => $this->sign(['refund_id' => $refundId])->hash,
        ]);
        return self::readRefund($this->call(fn () => ["/v1/refunds/$refundId?$query", [], null]));
    }

    /**
     * Yields the events after a cursor, the oldest first, each exactly once.
     *
     * Each event has cursor, id, sequence, type, status, created_at, body (the exact text of the notification) and data
     * (the parsed body). Store its cursor together with your result, and begin with it the next time.
     *
     * @param bool $follow continue without end, and wait $pollSeconds whenever there is nothing new or no answer
     * @return \Generator<int, array<string, mixed>>
     */
    public function events(
        string $after = '',
        int $limit = 100,
        bool $follow = false,
        float $pollSeconds = 5.0,
    ): \Generator {
        while (true) {
            try {
                $page = $this->page($after, $limit);
            } catch (UnavailableError $error) {
                if (!$follow) {
                    throw $error;
                }
                $page = ['events' => [], 'next' => $after, 'more' => false];
            }
            foreach ($page['events'] as $event) {
                yield $event + ['data' => json_decode($event['body'], true)];
            }
            $after = (string) $page['next'];
            if ($page['more']) {
                continue;
            }
            if (!$follow) {
                return;
            }
            self::wait($pollSeconds);
        }
    }

    /**
     * Throws unless the gateway has signed these bytes recently.
     *
     * @param string $rawBody the bytes as received: file_get_contents('php://input')
     * @param array<string, mixed> $headers $_SERVER, getallheaders() or the headers of a PSR-7 request
     * @param ?int $now seconds since 1970, for tests; by default the clock
     * @throws SignatureError
     * @throws NotificationError
     */
    public function verifyNotification(string $rawBody, array $headers, ?int $now = null): void
    {
        if ($this->ipnKeys === []) {
            throw new InvalidInputError('ipnSecret', 'is missing; give the client the whsec_ secret of this mode');
        }
        Signatures::verify($this->ipnKeys, $rawBody, Signatures::headers($headers), $now ?? time(), $this->tolerance);
    }

    /**
     * Verifies a notification and returns it.
     *
     * @param array<string, mixed> $headers
     * @throws SignatureError
     * @throws NotificationError
     */
    public function parseNotification(string $rawBody, array $headers, ?int $now = null): Notification
    {
        $parsed = $this->parse($rawBody, $headers, $now);
        return $parsed instanceof Notification ? $parsed : throw new NotificationError(
            'This notification is about a refund and has no status. Read it by parseRefundNotification.',
            'notification_of_refund',
        );
    }

    /**
     * Verifies a notification of a refund and returns it. The gateway sends it only with ipn_refunds=on.
     *
     * @param array<string, mixed> $headers
     * @throws SignatureError
     * @throws NotificationError
     */
    public function parseRefundNotification(string $rawBody, array $headers, ?int $now = null): RefundNotification
    {
        $parsed = $this->parse($rawBody, $headers, $now);
        return $parsed instanceof RefundNotification
            ? $parsed
            : throw new NotificationError('The body is not a notification of a refund.', 'notification_malformed');
    }

    /** @param array<string, mixed> $headers */
    private function parse(string $rawBody, array $headers, ?int $now): Notification|RefundNotification
    {
        $this->verifyNotification($rawBody, $headers, $now);
        $data = json_decode($rawBody, true);
        $isRefund = is_array($data) && ($data['type'] ?? null) === 'refund';
        $own = $isRefund ? ['refund_reference', 'state'] : ['status'];
        foreach (['invoice_id', 'tx_reference', ...$own] as $name) {
            if (!is_array($data) || !is_string($data[$name] ?? null)) {
                throw new NotificationError(
                    'The body is not a notification. With ipn_style=get there is none: ask your operator for post.',
                    'notification_malformed',
                );
            }
        }
        $sent = Signatures::headers($headers);
        $delivery = [
            $sent['webhook-id'],
            (int) $sent['webhook-timestamp'],
            preg_match('/-N([0-9]{1,15})$/D', $sent['webhook-id'], $parts) === 1 ? (int) $parts[1] : 0,
            (int) ($sent['webhook-attempt'] ?? 0),
            $data['invoice_id'],
            $data['tx_reference'],
        ];
        return $isRefund
            ? new RefundNotification(...[...$delivery, $data['refund_reference'], $data['state'], $data])
            : new Notification(...[...$delivery, $data['status'], $data]);
    }

    /**
     * Handles one notification from its bytes to the HTTP status of the answer. It verifies the signature, checks the
     * status at the gateway, compares invoice_id, amount and currency with your order, and calls $onStatus once for
     * each invoice and status.
     *
     * @param array<string, mixed> $headers
     * @param callable(string): ?array<string, mixed> $findOrder takes an invoice_id; returns an array with total or
     *     total_minor, and currency if it is not GHS, or null
     * @param callable(StatusChange): mixed $onStatus if it throws, the gateway sends the notification again
     * @param float $leaseSeconds if the process ends while $onStatus runs, it is called again after this time; it must
     *     not run longer, and it must tolerate a second call
     * @param ?callable(RefundChange): mixed $onRefund called once for each refund and state, if your setting
     *     ipn_refunds is on; without it, notifications of refunds are acknowledged and ignored. $onStatus is never
     *     called for a refund
     */
    public function handleNotification(
        string $rawBody,
        array $headers,
        Store $store,
        callable $findOrder,
        callable $onStatus,
        float $leaseSeconds = 60.0,
        ?callable $onRefund = null,
    ): Result {
        try {
            $notification = $this->parse($rawBody, $headers, null);
            if (($notification->data['type'] ?? null) === 'test') { // about no payment; it shows that it is verified
                return new Result(200, 'ignored', 'This is a test notification.');
            }
            return $notification instanceof RefundNotification
                ? $this->handleRefund($notification, $store, $findOrder, $onRefund, $leaseSeconds)
                : $this->handle($notification, $store, $findOrder, $onStatus, $leaseSeconds);
        } catch (InvalidInputError $error) { // a mistake of the program that calls this
            throw $error;
        } catch (TollgateError $error) {
            return new Result(self::answerTo($error), $error->getCode(), $error->getMessage(), $error);
        }
    }

    // The invoice is claimed before the status is read, so that an older status is never handled after a newer one. No
    // invoice id contains an asterisk, so the key is never that of a status.
    private function handle(
        Notification $notification,
        Store $store,
        callable $findOrder,
        callable $onStatus,
        float $leaseSeconds,
    ): Result {
        $invoice = "{$this->mode()}:{$notification->invoiceId}";
        return self::whileClaimed(
            $store,
            "$invoice:*",
            $leaseSeconds,
            function () use ($notification, $store, $findOrder, $onStatus, $leaseSeconds, $invoice): Result {
                $timeout = min($this->timeout, self::HANDLER_TIMEOUT);
                $payment = $this->checkStatus($notification->invoiceId, 1, $timeout);
                $status = $payment['status'];
                $handle = function (callable $complete) use ($payment, $notification, $findOrder, $onStatus): Result {
                    $this->callOnStatus($payment, $notification, $findOrder, $onStatus);
                    $complete();
                    return new Result(200, 'handled', "{$notification->invoiceId} is {$payment['status']}.");
                };
                return self::whileClaimed($store, "$invoice:$status", $leaseSeconds, $handle)
                    ?? new Result(200, 'duplicate', "{$notification->invoiceId} is $status already.");
            },
        ) ?? throw new \LogicException("the store has completed $invoice:*, which is never completed");
    }

    // The same for a refund. The status record lists the refunds, so it shows that the refund exists and its state.
    private function handleRefund(
        RefundNotification $notification,
        Store $store,
        callable $findOrder,
        ?callable $onRefund,
        float $leaseSeconds,
    ): Result {
        $reference = $notification->refundReference;
        if ($onRefund === null) {
            return new Result(200, 'ignored', "There is no onRefund for the refund $reference.");
        }
        $key = "{$this->mode()}:*refund:$reference";
        return self::whileClaimed(
            $store,
            "$key:*",
            $leaseSeconds,
            function () use ($notification, $store, $findOrder, $onRefund, $leaseSeconds, $key, $reference): Result {
                $timeout = min($this->timeout, self::HANDLER_TIMEOUT);
                $payment = $this->checkStatus($notification->invoiceId, 1, $timeout);
                $found = array_filter($payment['refunds'], fn ($one) => $one['refund_reference'] === $reference);
                $refund = array_values($found)[0] ?? throw new MismatchError(
                    "The payment {$notification->invoiceId} has no refund $reference.",
                    'reference_mismatch',
                    'refund_reference',
                );
                $handle = function (callable $complete) use ($payment, $refund, $notification, $findOrder, $onRefund) {
                    $order = self::matchingOrder($payment, $notification, $findOrder);
                    $change = new RefundChange($refund, $payment, $order, $notification);
                    self::guarded('handler_failed', 'onRefund', fn () => $onRefund($change));
                    $complete();
                    return new Result(200, 'handled', "The refund is {$refund['state']}.");
                };
                return self::whileClaimed($store, "$key:{$refund['state']}", $leaseSeconds, $handle)
                    ?? new Result(200, 'duplicate', "The refund $reference is {$refund['state']} already.");
            },
        ) ?? throw new \LogicException("the store has completed $key:*, which is never completed");
    }

    private function mode(): string
    {
        return str_starts_with($this->merchantKey, 'tk_') ? 'test' : 'live';
    }

    /** @param array<string, mixed> $payment */
    private function callOnStatus(
        array $payment,
        Notification $notification,
        callable $findOrder,
        callable $onStatus,
    ): void {
        $order = self::matchingOrder($payment, $notification, $findOrder);
        $change = new StatusChange($payment['status'], $payment, $order, $notification);
        self::guarded('handler_failed', 'onStatus', fn () => $onStatus($change));
    }

    /**
     * The order of a payment, which must be the one that the notification is about.
     *
     * @param array<string, mixed> $payment
     * @return array<string, mixed>
     */
    private static function matchingOrder(
        array $payment,
        Notification|RefundNotification $notification,
        callable $findOrder,
    ): array {
        $invoiceId = $notification->invoiceId;
        $order = self::guarded('handler_failed', 'findOrder', fn (): ?array => $findOrder($invoiceId));
        if ($order === null) {
            $message = "findOrder has no order $invoiceId. Store the order before you call initiate.";
            throw new HandlerError($message, 'order_not_found');
        }
        self::guarded('handler_failed', 'findOrder', fn () => Amounts::compare($payment, $order, $notification));
        return $order;
    }

    // Runs a function while this process has claimed a key. The claim is released, unless the function calls its
    // argument, which completes it. Returns null if the key is completed.
    private static function whileClaimed(Store $store, string $key, float $seconds, callable $function): ?Result
    {
        $owner = bin2hex(random_bytes(16));
        $answer = self::guarded('store_failed', 'store->claim', fn () => $store->claim($key, $owner, $seconds));
        if ($answer === 'done') {
            return null;
        }
        if ($answer !== 'claimed') {
            $message = "Another call for $key has not ended. The gateway sends it again.";
            throw new HandlerError($message, 'handler_busy');
        }
        $isOpen = true;
        try {
            return $function(function () use ($store, $key, $owner, &$isOpen): void {
                self::guarded('store_failed', 'store->complete', fn () => $store->complete($key, $owner));
                $isOpen = false;
            });
        } finally {
            if ($isOpen) {
                try {
                    $store->release($key, $owner);
                } catch (\Throwable) {
                    // The claim expires instead.
                }
            }
        }
    }

    // Calls a function of the merchant. Its errors become a HandlerError.
    private static function guarded(string $code, string $name, callable $function): mixed
    {
        try {
            return $function();
        } catch (MismatchError $error) {
            throw $error;
        } catch (\Throwable $error) {
            $message = "$name failed: {$error->getMessage()}. The gateway sends the notification again.";
            throw new HandlerError($message, $code, null, null, $error);
        }
    }

    // The HTTP status for the sender: 4xx if the gateway did not send this, 5xx if it must send it again.
    private static function answerTo(TollgateError $error): int
    {
        $isTemporary = in_array($error->getCode(), ['handler_busy', 'order_not_found'], true);
        return match (true) {
            $error instanceof SignatureError => 401,
            $error instanceof NotificationError => 400,
            $error instanceof UnavailableError, $isTemporary => 503,
            default => 500,
        };
    }

    private function hmac(string $text): string
    {
        return hash_hmac('sha256', $text, $this->merchantSecret);
    }

    /** @param array<string, mixed> $order */
    private function requestBody(array $order): string
    {
        Amounts::refuseFloats($order, '');
        $currency = ($order['currency'] ?? null) ?: ($order['extra_currency'] ?? null); // as the gateway reads it
        $total = Amounts::text($order, $currency)
            ?? throw new InvalidInputError('total', "is missing; send '25.00', or 'total_minor' => 2500");
        $fields = array_filter($order, fn ($value) => $value !== null);
        unset($fields['total_minor']);
        $fields['total'] = $total;
        foreach (is_array($order['line_items'] ?? null) ? $order['line_items'] : [] as $at => $item) {
            $fields['line_items'][$at] = is_array($item) ? Amounts::item($item, $currency, "line_items[$at].") : $item;
        }
        $fields['merchant_key'] = $this->merchantKey;
        $fields['secure_hash'] = $this->sign(['invoice_id' => $order['invoice_id'] ?? null, 'total' => $total])->hash;
        if (!isset($fields['pymt_instrument'])) {
            $fields['generate_checkout_url'] = true;
        }
        try {
            return json_encode($fields, JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES);
        } catch (\JsonException $error) {
            $message = "must have only UTF-8 texts, integers, booleans and lists ({$error->getMessage()})";
            throw new InvalidInputError('order', $message);
        }
    }

    /** @return array<string, mixed> */
    private function checkStatus(string $invoiceId, int $tries, float $timeout): array
    {
        $query = http_build_query([
            'merchant_key' => $this->merchantKey,
            'invoice_id' => $invoiceId,
            'secure_hash' => $this->sign(['invoice_id' => $invoiceId])->hash,
        ]);
        $answer = $this->call(fn () => ["/v1/gateway/json_status_chk?$query", [], null], $tries, $timeout);
        $record = $answer[$invoiceId] ?? null; // it has amount as text
        if (!is_array($record) || !is_string($record['status'] ?? null)) {
            throw new UnavailableError("The answer has no status record of $invoiceId. Check baseUrl.");
        }
        foreach (['total_amount_charged', 'reversed_amount', 'refunded_amount'] as $name) {
            if (isset($record[$name])) {
                $record[$name] = Amounts::twoDecimals($record[$name]);
            }
        }
        $record['refunds'] = array_map(self::readRefund(...), $record['refunds'] ?? []);
        return $record;
    }

    /**
     * A refund with its amount as text, as in a status record.
     *
     * @param array<string, mixed> $refund
     * @return array<string, mixed>
     */
    private static function readRefund(array $refund): array
    {
        return ['amount' => Amounts::twoDecimals($refund['amount'])] + $refund;
    }

    /** @return array<string, mixed> */
    private function page(string $after, int $limit): array
    {
        return $this->call(function () use ($after, $limit): array { // each try has its own time
            $now = time();
            $signature = $this->hmac("$now.{$this->merchantKey}.$after.$limit");
            $query = http_build_query(['merchant_key' => $this->merchantKey, 'after' => $after, 'limit' => $limit]);
            return ["/v1/events?$query", ["x-tollgate-signature: t=$now,v1=$signature"], null];
        });
    }

    /**
     * @param callable(): array{string, list<string>, ?string} $make returns path, headers and body
     * @return array<string, mixed>
     */
    private function call(callable $make, ?int $tries = null, ?float $timeout = null): array
    {
        $most = max(1, $tries ?? $this->tries);
        for ($number = 1; ; $number++) {
            try {
                return $this->tryOnce(...$make(), timeout: $timeout ?? $this->timeout, isRepeated: $number > 1);
            } catch (UnavailableError $failed) {
                $jitter = random_int(500, 1000) / 1000;
                $wait = $jitter * min($this->backoff * 2 ** ($number - 1), self::LONGEST_BACKOFF);
                $wait = max($wait, (float) $failed->retryAfter);
                if ($number >= $most || $wait > self::LONGEST_RETRY_AFTER) {
                    throw $failed;
                }
                self::wait($wait);
            }
        }
    }

    /**
     * @param list<string> $headers
     * @return array<string, mixed>
     * @throws UnavailableError if another try may help
     */
    private function tryOnce(string $path, array $headers, ?string $body, float $timeout, bool $isRepeated): array
    {
        [$http, $answered, $text] = $this->exchange($path, $headers, $body, $timeout);
        $answer = json_decode($text, true);
        $requestId = $answered['x-request-id'] ?? null;
        if (!is_array($answer) || !is_bool($answer['success'] ?? null)) {
            $message = "HTTP $http is not an answer of the gateway. Check baseUrl and the proxies on the way.";
            // After an earlier try, the answer of a proxy does not say whether that try was stored.
            if ($http >= 300 && $http < 500 && !$isRepeated) {
                throw new RefusedError($message, "http_$http", $http, null, $requestId);
            }
            throw new UnavailableError($message, 'gateway_unavailable', $http, null, $requestId);
        }
        if ($answer['success']) {
            return $answer;
        }
        throw self::refusal($answer, $http, $requestId, $answered['retry-after'] ?? '');
    }

    /**
     * @param list<string> $headers
     * @return array{int, array<string, string>, string} status, headers by lower-case name, and body
     */
    private function exchange(string $path, array $headers, ?string $body, float $timeout): array
    {
        $answered = [];
        $text = '';
        $options = [
            CURLOPT_PROTOCOLS => CURLPROTO_HTTP | CURLPROTO_HTTPS,
            CURLOPT_FOLLOWLOCATION => false, // a POST would become a GET
            CURLOPT_TIMEOUT_MS => (int) ceil($timeout * 1000),
            CURLOPT_NOSIGNAL => true,
            CURLOPT_USERAGENT => 'tollgate-php/' . self::VERSION,
            CURLOPT_HTTPHEADER => [...$headers, 'Accept: application/json', 'Expect:'],
            CURLOPT_HEADERFUNCTION => function ($curl, string $line) use (&$answered): int {
                [$name, $value] = explode(':', $line, 2) + [1 => ''];
                $answered[strtolower(trim($name))] = trim($value);
                return strlen($line);
            },
            CURLOPT_WRITEFUNCTION => function ($curl, string $part) use (&$text): int {
                $text .= $part;
                return strlen($text) > self::LARGEST_ANSWER ? 0 : strlen($part);
            },
        ];
        if ($body !== null) {
            $options += [CURLOPT_POST => true, CURLOPT_POSTFIELDS => $body];
        }
        $curl = curl_init($this->baseUrl . $path);
        curl_setopt_array($curl, $options);
        $isAnswered = curl_exec($curl);
        $http = curl_getinfo($curl, CURLINFO_RESPONSE_CODE);
        if ($isAnswered === false) {
            throw new UnavailableError(
                curl_errno($curl) === CURLE_OPERATION_TIMEDOUT
                    ? "No answer within $timeout s. Call again later."
                    : 'The connection failed (' . curl_error($curl) . '). Check baseUrl, or call again later.',
            );
        }
        return [$http, $answered, $text];
    }

    /** @param array<string, mixed> $answer */
    private static function refusal(array $answer, int $http, ?string $requestId, string $retryAfter): TollgateError
    {
        $error = is_array($answer['error'] ?? null) ? $answer['error'] : [];
        $code = (string) ($error['code'] ?? "http_$http");
        // With errors_as_200 the HTTP status is 200, and status_code has the real one.
        $status = is_int($answer['status_code'] ?? null) ? $answer['status_code'] : $http;
        $requestId = $answer['request_id'] ?? $requestId;
        $message = "$code: " . ($answer['message'] ?? 'no message');
        if ($status === 408 || $status === 429 || $status >= 500) {
            $seconds = preg_match('/^\d{1,9}$/D', $retryAfter) === 1 ? (int) $retryAfter : null;
            $text = "$message (request $requestId)";
            return new UnavailableError($text, 'gateway_unavailable', $status, $seconds, $requestId);
        }
        $hint = is_array($error['hint'] ?? null) ? $error['hint'] : null;
        if ($hint !== null) {
            $message .= " (likely mistake: {$hint['likely_mistake']}; hashed string: {$hint['hashed_string']})";
        }
        $advice = self::ADVICE["$code $status"] ?? self::ADVICE[$code] ?? 'Correct the request.';
        $text = "$message. $advice (request $requestId)";
        $left = isset($error['left']) ? Amounts::twoDecimals($error['left']) : null;
        return new RefusedError($text, $code, $status, $error['field'] ?? null, $requestId, $hint, $left);
    }

    private static function mustBeText(mixed $value, string $name): string
    {
        return is_string($value) && $value !== ''
            ? $value
            : throw new InvalidInputError($name, 'must be text, and not empty');
    }

    // It becomes a part of an address, so other characters are never sent.
    private static function mustBeRefundId(mixed $value): string
    {
        return is_string($value) && preg_match('/^(?!\.{1,2}$)[A-Za-z0-9._-]{1,64}$/D', $value) === 1
            ? $value
            : throw new InvalidInputError('refund_id', 'must be 1 to 64 letters, digits, . _ or -');
    }

    private static function wait(float $seconds): void
    {
        usleep((int) ($seconds * 1_000_000));
    }
}

/** A hash, and the text that was hashed. The text has no secret. */
final class Signature
{
    public function __construct(public readonly string $hash, public readonly string $text)
    {
    }
}

/** A verified notification. It is a reason to check the status, never a proof of payment. */
final class Notification
{
    /**
     * @param string $id the same on every try
     * @param int $timestamp of this try, seconds since 1970
     * @param int $sequence counts the notifications of the payment; it is read from the id, which is signed
     * @param int $attempt the number of this try, which is not signed; 0 if the header is absent
     * @param array<string, mixed> $data the whole body; it has the customer's data
     */
    public function __construct(
        public readonly string $id,
        public readonly int $timestamp,
        public readonly int $sequence,
        public readonly int $attempt,
        public readonly string $invoiceId,
        public readonly string $txReference,
        public readonly string $status,
        public readonly array $data,
    ) {
    }
}

/** A verified notification of a refund. It says nothing about the status of the payment, which stays paid. */
final class RefundNotification
{
    /** @param array<string, mixed> $data the whole body */
    public function __construct(
        public readonly string $id,
        public readonly int $timestamp,
        public readonly int $sequence,
        public readonly int $attempt,
        public readonly string $invoiceId,
        public readonly string $txReference,
        public readonly string $refundReference,
        public readonly string $state,
        public readonly array $data,
    ) {
    }
}

/** The argument of onRefund. Act on refund, not on the notification, which can be older. */
final class RefundChange
{
    /**
     * @param array<string, mixed> $refund as the gateway has it now: refund_id, amount, state, succeeded_at ...
     * @param array<string, mixed> $payment the status record; its status stays paid
     * @param array<string, mixed> $order what findOrder returned
     */
    public function __construct(
        public readonly array $refund,
        public readonly array $payment,
        public readonly array $order,
        public readonly RefundNotification $notification,
    ) {
    }
}

/** The argument of onStatus. Act on status, not on the notification, which can be older. */
final class StatusChange
{
    /**
     * @param string $status as the gateway has it now
     * @param array<string, mixed> $payment the status record; amount and currency are those of the order
     * @param array<string, mixed> $order what findOrder returned
     */
    public function __construct(
        public readonly string $status,
        public readonly array $payment,
        public readonly array $order,
        public readonly Notification $notification,
    ) {
    }
}

/** What handleNotification did. Answer the request with $status, and log $code and $message. */
final class Result
{
    /** @param int $status 200 acknowledges; the gateway sends the notification again after any other */
    public function __construct(
        public readonly int $status,
        public readonly string $code,
        public readonly string $message,
        public readonly ?TollgateError $error = null,
    ) {
    }
}

/** The base of all errors. getMessage() says what to do. getCode() is text, such as GW-012 or outcome_unknown. */
abstract class TollgateError extends \Exception
{
    /**
     * @param ?string $field the name of the wrong field
     * @param ?string $requestId the gateway's id of the request, by which its operator finds it
     */
    public function __construct(
        string $message,
        string $code,
        public readonly ?string $field = null,
        public readonly ?string $requestId = null,
        ?\Throwable $previous = null,
    ) {
        parent::__construct($message, 0, $previous);
        $this->code = $code; // text, as in PDOException
    }
}

/** An argument is wrong. Nothing was sent. The code is invalid_input, or currency_unknown. */
final class InvalidInputError extends TollgateError
{
    public function __construct(string $field, string $message, string $code = 'invalid_input')
    {
        parent::__construct("$field: $message", $code, $field);
    }
}

/**
 * The gateway refused the request, and repeating it does not help. The code is the gateway's, such as GW-012, or
 * http_404 if the answer is not the gateway's.
 */
final class RefusedError extends TollgateError
{
    /**
     * @param int $httpStatus the HTTP status that the answer has, or would have without the setting errors_as_200
     * @param ?array{hashed_string: string, likely_mistake: string} $hint for a wrong signature in test mode
     * @param ?string $left what may still be refunded, if a refund is more than that (GW-020, GW-026)
     */
    public function __construct(
        string $message,
        string $code,
        public readonly int $httpStatus,
        ?string $field = null,
        ?string $requestId = null,
        public readonly ?array $hint = null,
        public readonly ?string $left = null,
    ) {
        parent::__construct($message, $code, $field, $requestId);
    }
}

/**
 * There is no usable answer after all tries: a timeout, a lost connection, 429 or 5xx. Call again later. The code is
 * gateway_unavailable. It says nothing about the payment.
 */
class UnavailableError extends TollgateError
{
    /**
     * @param ?int $httpStatus of the last answer
     * @param ?int $retryAfter the seconds that the gateway asks to wait
     */
    public function __construct(
        string $message,
        string $code = 'gateway_unavailable',
        public readonly ?int $httpStatus = null,
        public readonly ?int $retryAfter = null,
        ?string $requestId = null,
        ?\Throwable $previous = null,
    ) {
        parent::__construct($message, $code, null, $requestId, $previous);
    }
}

/**
 * initiate or refund got no usable answer. The payment or refund may be stored or not: this is not a failure. Call again
 * with the same values. It never creates a second payment, and never refunds twice. The code is outcome_unknown.
 */
final class OutcomeUnknownError extends UnavailableError
{
}

/**
 * A notification is not signed by the gateway, or too old. Answer 401. Codes: signature_missing, signature_mismatch,
 * timestamp_out_of_tolerance.
 */
final class SignatureError extends TollgateError
{
}

/** A notification cannot be read. Answer 400. Codes: notification_malformed, notification_of_refund. */
final class NotificationError extends TollgateError
{
}

/**
 * The payment at the gateway is not the one of the order. Do not deliver. Codes: amount_mismatch, currency_mismatch,
 * invoice_mismatch, reference_mismatch.
 */
final class MismatchError extends TollgateError
{
}

/**
 * A genuine notification is not completed. The gateway sends it again. getPrevious() has the error of your function.
 * Codes: order_not_found, handler_failed, handler_busy, store_failed.
 */
final class HandlerError extends TollgateError
{
}

/**
 * Remembers which changes of status are completed. A key is text such as live:AMA-1042:paid. A claim whose process
 * ended expires. Then another process claims the key, and onStatus is called again.
 */
interface Store
{
    /**
     * Claims the key and returns 'claimed', unless it is completed ('done') or claimed by another ('busy'). It must be
     * atomic: of two simultaneous calls, one returns 'claimed'.
     */
    public function claim(string $key, string $owner, float $seconds): string;

    /** Marks the key as completed, for good. */
    public function complete(string $key, string $owner): void;

    /** Removes the claim of this owner. The claim of another owner, and a completed key, stay. */
    public function release(string $key, string $owner): void;
}

/** For tests, and for a program that handles all notifications in one process. */
class MemoryStore implements Store
{
    /** @var array<string, array{owner: string, until: float, done: bool}> */
    private array $rows = [];

    final public function claim(string $key, string $owner, float $seconds): string
    {
        return $this->locked(function () use ($key, $owner, $seconds): string {
            $row = $this->read($key);
            if ($row !== null && $row['done']) {
                return 'done';
            }
            if ($row !== null && $row['until'] > microtime(true)) {
                return 'busy';
            }
            $this->write($key, ['owner' => $owner, 'until' => microtime(true) + $seconds, 'done' => false]);
            return 'claimed';
        });
    }

    final public function complete(string $key, string $owner): void
    {
        $this->locked(fn () => $this->write($key, ['owner' => $owner, 'until' => 0.0, 'done' => true]));
    }

    final public function release(string $key, string $owner): void
    {
        $this->locked(function () use ($key, $owner): void {
            $row = $this->read($key);
            if ($row !== null && $row['owner'] === $owner && !$row['done']) {
                $this->remove($key);
            }
        });
    }

    protected function locked(callable $function): mixed
    {
        return $function();
    }

    /** @return ?array{owner: string, until: float, done: bool} */
    protected function read(string $key): ?array
    {
        return $this->rows[$key] ?? null;
    }

    /** @param array{owner: string, until: float, done: bool} $row */
    protected function write(string $key, array $row): void
    {
        $this->rows[$key] = $row;
    }

    protected function remove(string $key): void
    {
        unset($this->rows[$key]);
    }
}

/** A folder with one small file per key, for the processes of one machine. */
final class FileStore extends MemoryStore
{
    /** @param string $folder outside the folder that the web server shows */
    public function __construct(private readonly string $folder)
    {
        if (!is_dir($folder) && !@mkdir($folder, 0700, true) && !is_dir($folder)) {
            throw new \RuntimeException("$folder cannot be created");
        }
    }

    protected function locked(callable $function): mixed
    {
        $lock = self::mustSucceed(fopen("{$this->folder}/lock", 'c'), 'lock');
        try {
            self::mustSucceed(flock($lock, LOCK_EX), 'lock');
            return $function();
        } finally {
            fclose($lock); // ends the lock, as does the end of the process
        }
    }

    protected function read(string $key): ?array
    {
        $path = $this->path($key);
        if (!file_exists($path)) {
            return null;
        }
        $text = self::mustSucceed(file_get_contents($path), $path);
        return json_decode($text, true, 4, JSON_THROW_ON_ERROR);
    }

    // The rename is atomic, so a crash leaves the old file or the new one.
    protected function write(string $key, array $row): void
    {
        $path = $this->path($key);
        $file = self::mustSucceed(fopen("$path.new", 'w'), $path);
        $text = json_encode(['key' => $key] + $row, JSON_THROW_ON_ERROR);
        self::mustSucceed(fwrite($file, $text) === strlen($text) && fsync($file) && fclose($file), $path);
        self::mustSucceed(rename("$path.new", $path), $path);
    }

    protected function remove(string $key): void
    {
        self::mustSucceed(unlink($this->path($key)), $this->path($key));
    }

    private function path(string $key): string
    {
        return "{$this->folder}/" . hash('sha256', $key) . '.json';
    }

    /**
     * @template T
     * @param T|false $value
     * @return T
     */
    private static function mustSucceed(mixed $value, string $what): mixed
    {
        return $value !== false ? $value : throw new \RuntimeException("$what cannot be used");
    }
}

/**
 * A table of your database, for any number of machines: SQLite 3.24 or later, PostgreSQL, MySQL or MariaDB. Give it a
 * connection of its own, so that your transactions do not hide its claims. Completed keys stay. Their until_ms is the
 * time of completion, for a cleanup of your own.
 */
final class PdoStore implements Store
{
    private readonly string $insert;

    public function __construct(private readonly \PDO $pdo)
    {
        $isMysql = $pdo->getAttribute(\PDO::ATTR_DRIVER_NAME) === 'mysql';
        $values = "tollgate_claims (claim_key, owner, until_ms, done) values (?, '', 0, 0)";
        $this->insert = $isMysql ? "insert ignore into $values" : "insert into $values on conflict do nothing";
        // The usual collations of MySQL ignore letter case, and invoice ids do not.
        $collation = $isMysql ? 'character set ascii collate ascii_bin' : '';
        $this->run(
            "create table if not exists tollgate_claims (claim_key varchar(128) $collation primary key,"
            . ' owner varchar(64) not null, until_ms bigint not null, done smallint not null)',
        );
    }

    public function claim(string $key, string $owner, float $seconds): string
    {
        $now = (int) (microtime(true) * 1000);
        $this->run($this->insert, $key);
        $taken = $this->run(
            'update tollgate_claims set owner = ?, until_ms = ? where claim_key = ? and done = 0 and until_ms <= ?',
            $owner,
            $now + (int) ($seconds * 1000),
            $key,
            $now,
        );
        if ($taken->rowCount() === 1) {
            return 'claimed';
        }
        $done = $this->run('select done from tollgate_claims where claim_key = ?', $key)->fetchColumn();
        return (int) $done === 1 ? 'done' : 'busy';
    }

    public function complete(string $key, string $owner): void
    {
        $this->run($this->insert, $key);
        $this->run(
            'update tollgate_claims set owner = ?, until_ms = ?, done = 1 where claim_key = ?',
            $owner,
            (int) (microtime(true) * 1000),
            $key,
        );
    }

    public function release(string $key, string $owner): void
    {
        $this->run('delete from tollgate_claims where claim_key = ? and owner = ? and done = 0', $key, $owner);
    }

    private function run(string $statement, string|int ...$values): \PDOStatement
    {
        $prepared = $this->pdo->prepare($statement);
        if ($prepared === false || !$prepared->execute($values)) {
            throw new \RuntimeException('the table tollgate_claims cannot be used');
        }
        return $prepared;
    }
}

/** For the tests of your own endpoint. */
final class Testing
{
    /**
     * Returns the body and the headers of a notification as the gateway signs it.
     *
     * @param array<string, mixed> $fields replace those of a paid payment of 25.00 GHS, such as invoice_id,
     *     tx_reference, status and amount
     * @param ?int $timestamp seconds since 1970; by default the clock
     * @return array{string, array<string, string>}
     */
    public static function signedNotification(
        array $fields,
        string $ipnSecret,
        int $sequence = 1,
        int $attempt = 1,
        ?int $timestamp = null,
    ): array {
        $data = $fields + [
            'invoice_id' => 'TEST-1',
            'tx_reference' => 'TG-TEST-1',
            'status' => 'paid',
            'amount' => 25,
            'status_reason' => '',
            'payment_method' => 'mtn_mobile_money',
            'payment_time' => '2026-03-02T09:30:00.000Z',
            'currency' => 'GHS',
            'extra' => new \stdClass(),
        ];
        $data['invoice'] = $data['invoice_id'];
        return self::signed($data, $ipnSecret, $sequence, $attempt, $timestamp);
    }

    /**
     * Returns the body and the headers of a notification of a refund as the gateway signs it.
     *
     * @param array<string, mixed> $fields replace those of a refund of 10.00 GHS that succeeded, such as invoice_id,
     *     refund_id, amount and state
     * @return array{string, array<string, string>}
     */
    public static function signedRefundNotification(
        array $fields,
        string $ipnSecret,
        int $sequence = 1,
        int $attempt = 1,
        ?int $timestamp = null,
    ): array {
        $data = $fields + [
            'type' => 'refund',
            'refund_id' => 'R-TEST-1',
            'refund_reference' => 'refund-test-1',
            'invoice_id' => 'TEST-1',
            'tx_reference' => 'TG-TEST-1',
            'amount' => 10,
            'currency' => 'GHS',
            'state' => 'succeeded',
            'state_reason' => '',
            'reason' => '',
            'source' => 'payment',
            'kind' => 'provider',
            'requested_at' => '2026-03-02T09:30:00.000Z',
            'succeeded_at' => '2026-03-02T09:30:00.000Z',
        ];
        return self::signed($data, $ipnSecret, $sequence, $attempt, $timestamp);
    }

    /**
     * @param array<string, mixed> $data
     * @return array{string, array<string, string>}
     */
    private static function signed(
        array $data,
        string $ipnSecret,
        int $sequence,
        int $attempt,
        ?int $timestamp,
    ): array {
        $body = json_encode($data, JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES);
        $id = "{$data['tx_reference']}-N$sequence";
        $time = (string) ($timestamp ?? time());
        return [$body, [
            'content-type' => 'application/json',
            'webhook-id' => $id,
            'webhook-timestamp' => $time,
            'webhook-signature' => Signatures::sign(Signatures::ipnKey($ipnSecret), $id, $time, $body),
            'webhook-attempt' => (string) $attempt,
            'webhook-sequence' => (string) $sequence,
        ]];
    }
}

/** @internal The signatures of notifications, by the Standard Webhooks convention. */
final class Signatures
{
    private const SMALLEST_KEY = 16; // bytes; a missing setting must not become an empty key

    public static function ipnKey(#[\SensitiveParameter] mixed $secret): string
    {
        $key = is_string($secret) && str_starts_with($secret, 'whsec_')
            ? base64_decode(substr($secret, strlen('whsec_')), true)
            : false;
        if ($key === false || strlen($key) < self::SMALLEST_KEY) {
            throw new InvalidInputError('ipnSecret', 'must be the signing secret, which begins with whsec_');
        }
        return $key;
    }

    public static function sign(string $key, string $id, string $timestamp, string $rawBody): string
    {
        return 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$rawBody", $key, true));
    }

    /**
     * The webhook- headers by their lower-case name. $_SERVER has HTTP_WEBHOOK_ID for webhook-id.
     *
     * @param array<array-key, mixed> $headers
     * @return array<string, string>
     */
    public static function headers(array $headers): array
    {
        $found = [];
        foreach ($headers as $rawName => $values) {
            $name = str_replace('_', '-', strtolower((string) $rawName));
            $name = str_starts_with($name, 'http-webhook-') ? substr($name, strlen('http-')) : $name;
            if (!str_starts_with($name, 'webhook-')) {
                continue;
            }
            foreach ((array) $values as $raw) {
                $value = trim((string) $raw);
                if (($found[$name] ?? $value) !== $value || preg_match('/[^\x20-\x7e]/', $value) === 1) {
                    $message = "$name is not ASCII or is sent twice.";
                    throw new NotificationError($message, 'notification_malformed', $name);
                }
                $found[$name] = $value;
            }
        }
        return $found;
    }

    /**
     * @param list<string> $keys
     * @param array<string, string> $sent
     */
    public static function verify(array $keys, string $rawBody, array $sent, int $now, int $tolerance): void
    {
        foreach (['webhook-id', 'webhook-timestamp', 'webhook-signature'] as $name) {
            if (($sent[$name] ?? '') === '') {
                $message = "$name is missing: the gateway did not send this, or a proxy removed the header.";
                throw new SignatureError($message, 'signature_missing', $name);
            }
        }
        $timestamp = $sent['webhook-timestamp'];
        if (preg_match('/^[0-9]{1,15}$/D', $timestamp) !== 1) {
            $message = 'webhook-timestamp must be seconds since 1970.';
            throw new NotificationError($message, 'notification_malformed', 'webhook-timestamp');
        }
        $matches = 0;
        foreach ($keys as $key) {
            $right = self::sign($key, $sent['webhook-id'], $timestamp, $rawBody);
            foreach (explode(' ', $sent['webhook-signature']) as $signature) {
                $matches += (int) hash_equals($right, $signature);
            }
        }
        if ($matches === 0) {
            $message = 'webhook-signature does not match. Check that ipnSecret is the current one of this mode, and '
                . 'that the body is passed on byte for byte.';
            throw new SignatureError($message, 'signature_mismatch', 'webhook-signature');
        }
        if (abs($now - (int) $timestamp) > $tolerance) {
            $message = "webhook-timestamp is more than $tolerance s away from this clock. Is the clock right?";
            throw new SignatureError($message, 'timestamp_out_of_tolerance', 'webhook-timestamp');
        }
    }
}

/** @internal Amounts as text. No float ever holds one. */
final class Amounts
{
    private const TWO_DECIMALS = 'GHS USD GBP EUR NGN KES TZS ZAR ZMW BWP CDF EGP ETB GMD LRD LSL MAD MGA MWK MZN NAD '
        . 'SLE SSP SZL ZWG';
    private const NO_DECIMALS = 'UGX RWF XOF XAF BIF DJF GNF KMF';

    /**
     * Returns the amount of an order or an item, or null if there is none.
     *
     * @param array<string, mixed> $fields
     */
    public static function text(array $fields, mixed $currency, string $path = '', string $name = 'total'): ?string
    {
        $total = $fields[$name] ?? null;
        $minor = $fields["{$name}_minor"] ?? null;
        if ($minor !== null) {
            return $total === null
                ? self::fromMinor($minor, (string) ($currency ?: 'GHS'), "$path{$name}_minor")
                : throw new InvalidInputError("$path{$name}_minor", "send $name or {$name}_minor, not both");
        }
        if ($total === null || is_string($total)) {
            return $total;
        }
        throw new InvalidInputError(
            $path . $name,
            is_int($total)
                ? "an integer has no clear unit; write '$name' => '$total.00' for major units or "
                    . "'{$name}_minor' => $total for minor units"
                : "must be text such as '25.00', not " . get_debug_type($total),
        );
    }

    // An amount of an answer. It is exact, because it has at most 14 digits.
    public static function twoDecimals(int|float|string $amount): string
    {
        return number_format((float) $amount, 2, '.', '');
    }

    private static function fromMinor(mixed $minor, string $currency, string $name): string
    {
        if (!is_int($minor) || $minor < 0) {
            throw new InvalidInputError($name, 'must be an integer of minor units, not ' . get_debug_type($minor));
        }
        if (in_array($currency, explode(' ', self::NO_DECIMALS), true)) {
            return (string) $minor;
        }
        if (in_array($currency, explode(' ', self::TWO_DECIMALS), true)) {
            return sprintf('%d.%02d', intdiv($minor, 100), $minor % 100);
        }
        $message = "this version does not know the decimals of $currency; update it, or send total as text";
        throw new InvalidInputError($name, $message, 'currency_unknown');
    }

    /**
     * @param array<string, mixed> $item
     * @return array<string, mixed>
     */
    public static function item(array $item, mixed $currency, string $path): array
    {
        $total = self::text($item, $currency, $path);
        unset($item['total_minor']);
        return $total === null ? $item : ['total' => $total] + $item;
    }

    public static function refuseFloats(mixed $value, string $path): void
    {
        if (is_float($value)) {
            $message = "is a float, which cannot hold an amount exactly; write text such as '25.00', or total_minor";
            throw new InvalidInputError($path, $message);
        }
        foreach (is_array($value) ? $value : [] as $name => $inner) {
            self::refuseFloats($inner, match (true) {
                is_int($name) => "{$path}[$name]",
                $path === '' => $name,
                default => "$path.$name",
            });
        }
    }

    /**
     * Throws MismatchError if the payment is not the one that the order expects.
     *
     * @param array<string, mixed> $payment
     * @param array<string, mixed> $order
     */
    public static function compare(
        array $payment,
        array $order,
        Notification|RefundNotification $notification,
    ): void {
        $currency = ($order['currency'] ?? null) ?: 'GHS';
        $total = self::text($order, $currency);
        if ($total === null || self::plain($total) === null) {
            $message = "must be text such as '25.00', or total_minor (got " . var_export($total, true) . ')';
            throw new InvalidInputError('total', $message);
        }
        $invoiceId = $notification->invoiceId;
        $checks = [
            ['invoice_mismatch', 'invoice_id', $order['invoice_id'] ?? $invoiceId, $invoiceId],
            ['invoice_mismatch', 'invoice_id', $invoiceId, $payment['invoice_id']],
            ['reference_mismatch', 'tx_reference', $notification->txReference, $payment['tx_reference']],
            ['currency_mismatch', 'currency', $currency, $payment['currency']],
            ['amount_mismatch', 'amount', self::plain($total), self::plain($payment['amount'])],
        ];
        foreach ($checks as [$code, $field, $expected, $actual]) {
            if ($expected !== $actual) {
                $difference = "$invoiceId: the order has $field $expected, the payment has $actual.";
                throw new MismatchError("$difference Do not deliver; find out why.", $code, $field);
            }
        }
    }

    // The shortest form of a decimal, so that 25, 25.0 and 025.00 are equal; null if it is not a decimal.
    private static function plain(string $text): ?string
    {
        if (preg_match('/^0*([0-9]+)(?:\.(?=[0-9])([0-9]*?)0*)?$/D', $text, $parts) !== 1) {
            return null;
        }
        return ($parts[2] ?? '') === '' ? $parts[1] : "$parts[1].$parts[2]";
    }
}
