"""Starts MiniStack, the pinned version, with what it gets wrong mended:

- IAM knows no batch actions of SQS: `SendMessageBatch` needs `sqs:SendMessage`;
- nor does it know `BatchExecuteStatement`: each statement needs its own action, as `dynamodb:PartiQLUpdate`;
- what `DescribeEventBus` names is a bus, not a rule, and its ARN is a name as well;
- a PartiQL condition `pk = ? AND sk = ? AND (a IS MISSING OR a = ?)` names its item all the same: DynamoDB takes it;
- with TLS it would open port 443 too: only the port it was given.

It writes each pair of principal and action to its log, once, and whether it was allowed. It listens where BIND_HOST and GATEWAY_PORT say.
"""

import json
import re

from ministack import app
from ministack.core import iam_actions, iam_evaluator
from ministack.services import dynamodb, eventbridge, sts

as_it_was = {
    "enforce": iam_evaluator.enforce,
    "action": iam_actions.extract_iam_action,
    "resource": iam_actions.extract_resource_arn,
    "checks": iam_actions.dynamodb_transaction_checks,
    "bus": eventbridge._describe_event_bus,
    "conditions": dynamodb._pq_conditions,
}

STATEMENT = re.compile(r'\s*(SELECT|INSERT|UPDATE|DELETE)\b[^"]*"([^"]+)"(?:\s*\.\s*"([^"]+)")?', re.IGNORECASE)


seen = set()


def enforce(access_key, action, *request, **more):
    refusal = as_it_was["enforce"](access_key, action, *request, **more)
    principal = (sts._sessions.get(access_key) or {}).get("Arn", access_key)
    line = f"IAM {'refused' if refusal else 'allowed'} {action} {principal}"
    if line not in seen:
        seen.add(line)
        print(line, flush=True)
    return refusal


def iam_action(service, *request):
    action = as_it_was["action"](service, *request)
    return action.removesuffix("Batch") if service == "sqs" and action else action


def iam_resource(service, method, path, headers, body, query, region, account):
    if headers.get("x-amz-target", "").endswith(".DescribeEventBus"):
        name = json.loads(body).get("Name", "default")
        return name if name.startswith("arn:") else f"arn:aws:events:{region}:{account}:event-bus/{name}"
    return as_it_was["resource"](service, method, path, headers, body, query, region, account)


def iam_checks(action, body, region, account):
    """Pairs of action and resource that a request of several parts needs."""
    if action not in ("dynamodb:BatchExecuteStatement", "dynamodb:ExecuteStatement"):
        return as_it_was["checks"](action, body, region, account)
    request = json.loads(body)
    checks = []
    for one in request.get("Statements", [request]):
        verb, table, index = STATEMENT.match(one["Statement"]).groups()
        suffix = f"/index/{index}" if index else ""
        arn = f"arn:aws:dynamodb:{region}:{account}:table/{table}{suffix}"
        checks.append((f"dynamodb:PartiQL{verb.capitalize()}", arn))
    return checks


def describe_event_bus(request):
    return as_it_was["bus"]({**request, "Name": request.get("Name", "default").split("event-bus/")[-1]})


def conditions(where):
    if where is not None and where[0] == "and":
        return conditions(where[1]) + conditions(where[2])
    return as_it_was["conditions"](where)


iam_evaluator.enforce = enforce
iam_actions.extract_iam_action = iam_action
iam_actions.extract_resource_arn = iam_resource
iam_actions.dynamodb_transaction_checks = iam_checks
eventbridge._describe_event_bus = describe_event_bus
dynamodb._pq_conditions = conditions
app._port_is_bindable = lambda host, port: False

if __name__ == "__main__":
    app.main()
