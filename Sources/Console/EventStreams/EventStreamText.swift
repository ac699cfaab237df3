import Identity
import Localization
import Templating

extension EventStream.Kind {
  /// The kind's name.
  var text: Message {
    switch self {
    case .file: Message("event-streams.kind-file")
    case .syslog: Message("event-streams.kind-syslog")
    case .syslogTLS: Message("event-streams.kind-syslog-tls")
    case .webhook: Message("event-streams.kind-webhook")
    }
  }

  /// What the kind's address looks like.
  var hint: Message {
    switch self {
    case .file: Message("event-streams.hint-file")
    case .syslog: Message("event-streams.hint-syslog")
    case .syslogTLS: Message("event-streams.hint-syslog-tls")
    case .webhook: Message("event-streams.hint-webhook")
    }
  }
}

extension EventStream {
  /// The destination as administrators know it.
  var shownTarget: String { kind == .file ? "\(target).jsonl" : target }
}

extension EventStreams.State {
  /// The state in a word.
  var chip: Markup {
    if stream.pausedAt != nil { return Chip.off(Message("event-streams.paused")) }
    if stream.failures > 0 { return Chip.bad(Message("event-streams.failing")) }
    return lag == 0
      ? Chip.on(Message("event-streams.up-to-date"))
      : Chip.look(Message("event-streams.catching-up"))
  }
}

extension EventFailure {
  /// The failure; the destination's words are shown as they are.
  var message: Message {
    switch self {
    case .reported(let text): .verbatim(text)
    case .undecryptable: Message("event-streams.undecryptable")
    case .expired: Message("event-streams.entry-expired")
    }
  }
}
