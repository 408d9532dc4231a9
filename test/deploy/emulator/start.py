"""Starts MiniStack, the pinned version, with what it gets wrong mended:

- a PartiQL condition `pk = ? AND sk = ? AND (a IS MISSING OR a = ?)` names its item all the same: DynamoDB takes it;
- an alarm on metric math is kept, on the first of its metrics, where it would fail the whole stack;
- with TLS it would open port 443 too: only the port it was given.

It listens where BIND_HOST and GATEWAY_PORT say.
"""

from ministack import app
from ministack.services import dynamodb
from ministack.services.cloudformation import provisioners

of_one_condition = dynamodb._pq_conditions


def conditions(where):
    if where is not None and where[0] == "and":
        return conditions(where[1]) + conditions(where[2])
    return of_one_condition(where)


of_plain_alarm = provisioners._cw_metric_alarm_record


def alarm_record(name, props):
    if not props.get("Metrics"):
        return of_plain_alarm(name, props)
    plain = {key: value for key, value in props.items() if key != "Metrics"}
    stat = next(metric["MetricStat"] for metric in props["Metrics"] if metric.get("MetricStat"))
    return of_plain_alarm(name, {**plain, **stat["Metric"], "Period": stat["Period"], "Statistic": stat["Stat"]})


dynamodb._pq_conditions = conditions
provisioners._cw_metric_alarm_record = alarm_record
app._port_is_bindable = lambda host, port: False

if __name__ == "__main__":
    app.main()
