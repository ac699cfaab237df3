import JSON
import Localization

extension StreamLogEvent {
  /// The event in a form that can be written.
  var record: LogRecord {
    switch self {
    case .failing(let stream, let reason):
      var record = LogRecord(
        "event_stream.failing", .warning,
        Message("cli.stream-failing", ["stream": .text(stream), "reason": .text(reason)]),
        [("stream", .string(stream)), ("reason", .string(reason))])
      record.subject = stream
      return record
    case .resumed(let stream):
      var record = LogRecord(
        "event_stream.resumed", .info, Message("cli.stream-resumed", ["stream": .text(stream)]),
        [("stream", .string(stream))])
      record.subject = stream
      return record
    case .refused(let stream, let entry, let attempts, let reason):
      var record = LogRecord(
        "event_stream.refused", .error,
        Message(
          "cli.stream-refused",
          [
            "stream": .text(stream), "entry": .text("\(entry)"), "attempts": .text("\(attempts)"),
            "reason": .text(reason),
          ]),
        [
          ("stream", .string(stream)), ("sequence", .number(JSON.Number(entry))),
          ("reason", .string(reason)),
        ])
      record.subject = stream
      return record
    }
  }
}
