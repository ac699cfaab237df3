import HTTP
import Identity

/// Copies of the audit log in other systems.
enum EventStreamsRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let streams = parts.identity.eventStreams
    let list = EventStreamsPage(
      streams: streams, frames: parts.frames,
      view: try parts.template("event-streams/event-streams", for: EventStreamsView.self))
    table.signedIn(.get, ConsolePaths.eventStreams, .manageAdministrators, list.show)

    let secretPage = SigningSecretPage(
      actions: parts.actions,
      view: try parts.template("event-streams/signing-secret", for: SigningSecretView.self))
    let new = NewEventStreamPage(
      streams: streams, actions: parts.actions,
      form: try parts.template("event-streams/new", for: NewEventStreamView.self),
      secretPage: secretPage)
    table.signedIn(.get, ConsolePaths.newEventStream, .manageAdministrators, new.show)
    table.signedIn(ConsolePaths.newEventStream, performing: [.addEventStream], new.add)

    let page = EventStreamPage(
      streams: streams, actions: parts.actions,
      view: try parts.template("event-streams/event-stream", for: EventStreamView.self))
    table.signedIn(.get, ConsolePaths.eventStream, .manageAdministrators, page.show)
    table.signedIn(
      ConsolePaths.eventStreamTest, performing: [.testEventStream], page.test)
    table.signedIn(
      ConsolePaths.deadLetterRetry, performing: [.retryDeadLetter], page.retry)

    let settings = EventStreamSettingsPage(
      streams: streams, actions: parts.actions,
      form: try parts.template("event-streams/settings", for: EventStreamSettingsView.self),
      secretPage: secretPage)
    table.signedIn(
      .get, ConsolePaths.eventStreamSettings, .manageAdministrators, settings.show)
    table.signedIn(
      ConsolePaths.eventStreamSettings, performing: [.changeEventStream], settings.save)

    let changes = EventStreamChangePage(streams: streams, actions: parts.actions)
    let confirmed: [(Path<String>, EventStreamChange)] = [
      (ConsolePaths.eventStreamPause, .pause), (ConsolePaths.eventStreamResumption, .resume),
      (ConsolePaths.eventStreamDeletion, .delete),
    ]
    for (path, change) in confirmed {
      table.signedIn(.get, path, .manageAdministrators) { signedIn, id throws(Refusal) in
        try await changes.ask(change, signedIn, id)
      }
      table.signedIn(path, performing: [change.action]) { signedIn, id throws(Refusal) in
        try await changes.perform(change, signedIn, id)
      }
    }
    table.signedIn(.get, ConsolePaths.deadLetterRemoval, .manageAdministrators) {
      signedIn, id, sequence throws(Refusal) in
      try await changes.ask(try await changes.discarding(sequence, of: id), signedIn, id)
    }
    table.signedIn(ConsolePaths.deadLetterRemoval, performing: [.discardDeadLetter]) {
      signedIn, id, sequence throws(Refusal) in
      try await changes.perform(
        try await changes.discarding(sequence, of: id), signedIn, id)
    }
  }
}

extension ConsolePaths {
  static let eventStreams = Path("event-streams")
  static let newEventStream = Path("event-streams", "new")
  static let eventStream = Path("event-streams", nil, parameters: String.self)
  static let eventStreamSettings = Path("event-streams", nil, "settings", parameters: String.self)
  static let eventStreamTest = Path("event-streams", nil, "test", parameters: String.self)
  static let eventStreamPause = Path("event-streams", nil, "pause", parameters: String.self)
  static let eventStreamResumption = Path(
    "event-streams", nil, "resumption", parameters: String.self)
  static let eventStreamDeletion = Path("event-streams", nil, "deletion", parameters: String.self)
  static let deadLetterRetry = Path(
    "event-streams", nil, "rejected-entries", nil, "retry", parameters: String.self, String.self)
  static let deadLetterRemoval = Path(
    "event-streams", nil, "rejected-entries", nil, "removal", parameters: String.self, String.self)
}
