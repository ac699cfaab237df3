import HTTP
import Identity
import Localization
import Templating

/// Pauses, resumes, and deletes streams, and discards rejected entries, after confirmation.
struct EventStreamChangePage: Sendable {
  let streams: EventStreams
  let actions: ActionForms

  func askForPause(_ signedIn: SignedIn, _ id: String) async throws(Refusal) -> Response {
    try await ask(.pause, signedIn, id)
  }

  func pause(_ signedIn: SignedIn, _ id: String) async throws(Refusal) -> Response {
    do {
      let outcome = try await streams.pause(ID(id), actions.request(signedIn))
      return leave(Message("event-streams.now-paused"), signedIn, outcome, id)
    } catch { return try await refuse(error, .pause, signedIn, id) }
  }

  func askForResumption(_ signedIn: SignedIn, _ id: String) async throws(Refusal) -> Response {
    try await ask(.resume, signedIn, id)
  }

  func resume(_ signedIn: SignedIn, _ id: String) async throws(Refusal) -> Response {
    do {
      let outcome = try await streams.resume(ID(id), actions.request(signedIn))
      return leave(Message("event-streams.now-resumed"), signedIn, outcome, id)
    } catch { return try await refuse(error, .resume, signedIn, id) }
  }

  func askForDeletion(_ signedIn: SignedIn, _ id: String) async throws(Refusal) -> Response {
    try await ask(.delete, signedIn, id)
  }

  func delete(_ signedIn: SignedIn, _ id: String) async throws(Refusal) -> Response {
    do {
      let outcome = try await streams.delete(ID(id), actions.request(signedIn))
      return actions.leave(
        Message("event-streams.deleted"), signedIn, after: outcome,
        to: ConsolePaths.eventStreams())
    } catch { return try await refuse(error, .delete, signedIn, id) }
  }

  func askForRemoval(
    _ signedIn: SignedIn, _ id: String, _ sequence: String
  ) async throws(Refusal) -> Response {
    try await ask(.discard(try await letter(id, sequence)), signedIn, id)
  }

  func discard(
    _ signedIn: SignedIn, _ id: String, _ sequence: String
  ) async throws(Refusal) -> Response {
    let number = try await letter(id, sequence)
    do {
      let outcome = try await streams.discard(number, of: ID(id), actions.request(signedIn))
      return leave(Message("event-streams.discarded"), signedIn, outcome, id)
    } catch { return try await refuse(error, .discard(number), signedIn, id) }
  }

  private func letter(_ id: String, _ sequence: String) async throws(Refusal) -> Int64 {
    let letters = try await refusing { try await streams.deadLetters(ID(id)) }
    guard let number = Int64(sequence), letters.contains(where: { $0.sequence == number }) else {
      throw .notFound
    }
    return number
  }

  private func leave<Value>(
    _ text: Message, _ signedIn: SignedIn, _ outcome: ActionOutcome<Value>, _ id: String
  ) -> Response {
    actions.leave(text, signedIn, after: outcome, to: ConsolePaths.eventStream(id))
  }

  private func refuse(
    _ error: ActionError<EventStreamError>, _ change: Change, _ signedIn: SignedIn, _ id: String
  ) async throws(Refusal) -> Response {
    let errors = try await actions.faults(error, change.action, signedIn) {
      error throws(Refusal) in throw EventStreamPage.refusal(error)
    }
    return try await ask(change, signedIn, id, errors: errors)
  }

  private func ask(
    _ change: Change, _ signedIn: SignedIn, _ id: String, errors: [FieldError] = []
  ) async throws(Refusal) -> Response {
    let state = try await EventStreamPage.state(id, streams)
    let stream = state.stream
    let name = Message.Value.name(Words.short(stream.name))
    var frame = actions.frames.frame(
      Message(
        "event-streams.change-title", ["action": .message(change.button), "name": name]),
      for: signedIn)
    frame.crumbs = [
      EventStreamPage.crumb,
      Link(text: Words.short(stream.name), href: ConsolePaths.eventStream(id)),
    ]
    var question = ActionQuestion(
      performs: change.action, heading: Markup(html: change.heading(name)),
      consequences: change.consequences(state), button: change.button,
      keep: Message("common.cancel"), action: change.address(id),
      back: ConsolePaths.eventStream(id))
    if case .resume = change { question.isDestructive = false }
    question.factsHeading = Message("event-streams.this-stream")
    question.facts = [
      Fact(Message("event-streams.destination"), HTML.isolated(stream.shownTarget)),
      Fact(Message("common.state"), state.chip),
      Fact(Message("event-streams.lag"), Message.value(.number(Int(state.lag)))),
    ]
    return try await actions.ask(question, signedIn, frame, errors: errors)
  }
}

/// A change of a stream that requires confirmation.
private enum Change {
  case pause, resume, delete
  case discard(Int64)

  var action: ConsoleAction {
    switch self {
    case .pause: .pauseEventStream
    case .resume: .resumeEventStream
    case .delete: .deleteEventStream
    case .discard: .discardDeadLetter
    }
  }

  var button: Message {
    switch self {
    case .pause: Message("event-streams.pause")
    case .resume: Message("event-streams.resume")
    case .delete: Message("event-streams.delete")
    case .discard: Message("event-streams.discard")
    }
  }

  func heading(_ name: Message.Value) -> Message {
    switch self {
    case .pause: Message("event-streams.pause-question", ["name": name])
    case .resume: Message("event-streams.resume-question", ["name": name])
    case .delete: Message("event-streams.delete-question", ["name": name])
    case .discard(let number):
      Message("event-streams.discard-question", ["entry": .number(Int(number)), "name": name])
    }
  }

  func consequences(_ state: EventStreams.State) -> [Message] {
    switch self {
    case .pause:
      [Message("event-streams.pause-waits"), Message("event-streams.pause-expires")]
    case .resume:
      [Message("event-streams.resume-delivers", ["count": .number(Int(state.lag))])]
    case .delete:
      [
        Message("event-streams.delete-ends", ["count": .number(Int(state.lag))]),
        Message("event-streams.delete-keeps"),
      ]
    case .discard:
      [Message("event-streams.discard-gap"), Message("event-streams.discard-stays")]
    }
  }

  func address(_ id: String) -> String {
    switch self {
    case .pause: ConsolePaths.eventStreamPause(id)
    case .resume: ConsolePaths.eventStreamResumption(id)
    case .delete: ConsolePaths.eventStreamDeletion(id)
    case .discard(let number): ConsolePaths.deadLetterRemoval(id, String(number))
    }
  }
}
