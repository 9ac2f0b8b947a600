<?php

// Runs the verbs of the SDK for test/sdk/suite.ts: a line of JSON in, a line of JSON out.

declare(strict_types=1);

use Tollgate\Client;
use Tollgate\FileStore;
use Tollgate\MemoryStore;
use Tollgate\PdoStore;
use Tollgate\Store;
use Tollgate\Testing;
use Tollgate\TollgateError;

error_reporting(E_ALL);
set_error_handler(function (int $level, string $message): never {
    throw new ErrorException($message);
});

require $argv[1] . '/Tollgate.php';

function camelCase(string $name): string
{
    return lcfirst(str_replace('_', '', ucwords($name, '_')));
}

function snakeCase(string $name): string
{
    return strtolower(preg_replace('/(?<=[a-z])[A-Z]/', '_$0', $name));
}

/** @param array<string, mixed> $options */
function client(array $options): Client
{
    return new Client(...array_combine(array_map('camelCase', array_keys($options)), $options));
}

/** @param array<string, mixed> $properties */
function withSnakeCase(array $properties): array
{
    return array_combine(array_map('snakeCase', array_keys($properties)), $properties);
}

function store(string $kind, string $folder): Store
{
    return match ($kind) {
        'memory' => new MemoryStore(),
        'file' => new FileStore($folder),
        'sql' => new PdoStore(new PDO("sqlite:$folder/db")),
    };
}

/** @return list<string> */
function exercise(Store $store): array
{
    $results = [$store->claim('k', 'a', 60), $store->claim('k', 'b', 60)];
    $store->release('k', 'b');
    $results[] = $store->claim('k', 'b', 60);
    $store->release('k', 'a');
    $results[] = $store->claim('k', 'b', 0.05);
    usleep(60_000);
    $results[] = $store->claim('k', 'c', 60);
    $store->release('k', 'b');
    $results[] = $store->claim('k', 'd', 60);
    $store->complete('k', 'c');
    $store->release('k', 'c');
    $results[] = $store->claim('k', 'e', 60);
    $results[] = $store->claim('another', 'e', 60);
    return $results;
}

function run(string $op, array $options, array $args): mixed
{
    return match ($op) {
        'sign' => (array) client($options)->sign($args[0]),
        'initiate' => client($options)->initiate($args[0]),
        'status' => client($options)->status($args[0]),
        'refund' => client($options)->refund($args[0]),
        'refund_status' => client($options)->refundStatus($args[0]),
        'events' => iterator_to_array(client($options)->events(...$args), false),
        'verify' => client($options)->verifyNotification(...$args),
        'parse' => withSnakeCase((array) client($options)->parseNotification(...$args)),
        'parse_refund' => withSnakeCase((array) client($options)->parseRefundNotification(...$args)),
        'signed_refund' => array_combine(['body', 'headers'], Testing::signedRefundNotification(...$args)),
        'signed' => array_combine(['body', 'headers'], Testing::signedNotification(...$args)),
        'store' => exercise(store(...$args)),
    };
}

while (($line = fgets(STDIN)) !== false) {
    $request = json_decode($line, true);
    try {
        $answer = ['result' => run($request['op'], $request['client'], $request['args'])];
    } catch (TollgateError $error) {
        $answer = ['error' => [
            'class' => substr($error::class, strlen('Tollgate\\')),
            'code' => $error->getCode(),
            'message' => $error->getMessage(),
            'field' => $error->field === null ? null : snakeCase($error->field),
            'request_id' => $error->requestId,
            'http_status' => $error->httpStatus ?? null,
            'retry_after' => $error->retryAfter ?? null,
            'left' => $error->left ?? null,
        ]];
    }
    echo json_encode($answer, JSON_THROW_ON_ERROR), "\n";
}
