<?php

// A shop for test/sdk/suite.ts, served by php -S with several processes. Its orders are in a JSON file, and each call of
// onStatus is a line of another file.

declare(strict_types=1);

use Tollgate\Client;
use Tollgate\FileStore;
use Tollgate\PdoStore;
use Tollgate\RefundChange;
use Tollgate\StatusChange;

require dirname(__DIR__, 3) . '/sdk/php/Tollgate.php';

$settings = json_decode(getenv('SHOP'), true);
$folder = $settings['folder'];
$options = $settings['client'];
$client = new Client(
    $options['base_url'],
    $options['merchant_key'],
    $options['merchant_secret'],
    $options['ipn_secret'],
);
$store = $settings['store'] === 'file'
    ? new FileStore("$folder/store")
    : new PdoStore(new PDO("sqlite:$folder/store.db"));

$findOrder = fn (string $invoiceId): ?array => json_decode(
    file_get_contents("$folder/orders.json"),
    true,
)[$invoiceId] ?? null;

$onStatus = function (StatusChange $change) use ($folder): void {
    $order = $change->order;
    $calls = file("$folder/calls");
    $count = count(array_filter($calls, fn ($line) => str_starts_with($line, "{$order['invoice_id']} ")));
    $line = "{$order['invoice_id']} {$change->status} {$change->payment['amount']}\n";
    file_put_contents("$folder/calls", $line, FILE_APPEND);
    if ($count === 0 && ($order['first'] ?? '') === 'fails') {
        throw new RuntimeException('the warehouse is closed');
    }
    if ($count === 0 && ($order['first'] ?? '') === 'dies') {
        posix_kill(getmypid(), 9);
    }
    usleep((int) (($order['seconds'] ?? 0) * 1_000_000));
};

$onRefund = function (RefundChange $change) use ($folder): void {
    $line = "{$change->order['invoice_id']} refund.{$change->refund['state']} {$change->refund['amount']}\n";
    file_put_contents("$folder/calls", $line, FILE_APPEND);
};

$result = $client->handleNotification(
    file_get_contents('php://input'),
    $_SERVER,
    $store,
    $findOrder,
    $onStatus,
    $settings['lease_seconds'],
    $onRefund,
);
http_response_code($result->status);
echo $result->code;
