import HTTP
import Identity
import Localization
import Templating

/// Pauses, resumes, and deletes streams, and discards rejected entries, after confirmation.
struct EventStreamChangePage: Sendable {
  let streams: EventStreams
  let actions: ActionForms

  func perform(
    _ change: EventStreamChange, _ signedIn: SignedIn, _ id: String
  ) async throws(Refusal) -> Response {
    let request = actions.request(signedIn)
    do throws(ActionError<EventStreamError>) {
      let renewed =
        switch change {
        case .pause: try await streams.pause(ID(id), request).renewed
        case .resume: try await streams.resume(ID(id), request).renewed
        case .delete: try await streams.delete(ID(id), request).renewed
        case .discard(let entry): try await streams.discard(entry, of: ID(id), request).renewed
        }
      return actions.leave(
        change.done, signedIn, after: ActionOutcome(value: (), renewed: renewed),
        to: change.next(id))
    } catch {
      let errors = try await actions.faults(error, change.action, signedIn) {
        error throws(Refusal) in throw EventStreamPage.refusal(error)
      }
      return try await ask(change, signedIn, id, errors: errors)
    }
  }

  /// Returns the discarding of a rejected entry that an address names.
  func discarding(
    _ sequence: String, of id: String
  ) async throws(Refusal) -> EventStreamChange {
    let letters = try await refusing { try await streams.deadLetters(ID(id)) }
    guard let number = Int64(sequence), letters.contains(where: { $0.sequence == number }) else {
      throw .notFound
    }
    return .discard(number)
  }

  func ask(
    _ change: EventStreamChange, _ signedIn: SignedIn, _ id: String, errors: [FieldError] = []
  ) async throws(Refusal) -> Response {
    let state = try await EventStreamPage.state(id, streams)
    let stream = state.stream
    guard !change.isMade(in: stream) else { return .redirect(to: ConsolePaths.eventStream(id)) }
    let name = Message.Value.name(Formatted.short(stream.name))
    var frame = actions.frames.frame(
      Message(
        "event-streams.change-title", ["action": .message(change.button), "name": name]),
      for: signedIn)
    frame.crumbs = [
      EventStreamPage.crumb,
      Link(text: Formatted.short(stream.name), href: ConsolePaths.eventStream(id)),
    ]
    var question = ActionQuestion(
      performs: change.action, heading: Markup(html: change.heading(name)),
      consequences: change.consequences(state), button: change.button,
      keep: Message("common.cancel"), action: change.address(id),
      back: ConsolePaths.eventStream(id))
    if case .resume = change { question.isDestructive = false }
    question.factsHeading = Message("event-streams.this-stream")
    question.facts = [
      Fact(Message("event-streams.destination"), HTML.address(stream.shownTarget)),
      Fact(Message("common.state"), state.chip),
      Fact(Message("event-streams.lag"), Message.value(.number(Int(state.lag)))),
    ]
    return try await actions.ask(question, signedIn, frame, errors: errors)
  }
}

/// A change of a stream that requires confirmation.
enum EventStreamChange {
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

  /// Whether a stream is as the change would make it.
  func isMade(in stream: EventStream) -> Bool {
    switch self {
    case .pause: stream.pausedAt != nil
    case .resume: stream.pausedAt == nil
    case .delete, .discard: false
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

  /// What the next page says.
  var done: Message {
    switch self {
    case .pause: Message("event-streams.now-paused")
    case .resume: Message("event-streams.now-resumed")
    case .delete: Message("event-streams.deleted")
    case .discard: Message("event-streams.discarded")
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
      [
        state.lag == 0
          ? Message("event-streams.resume-delivers-new")
          : Message("event-streams.resume-delivers", ["count": .number(Int(state.lag))])
      ]
    case .delete:
      [
        state.lag == 0
          ? Message("event-streams.delete-ends-delivered")
          : Message("event-streams.delete-ends", ["count": .number(Int(state.lag))]),
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

  /// The address of the page that follows.
  func next(_ id: String) -> String {
    if case .delete = self { ConsolePaths.eventStreams() } else { ConsolePaths.eventStream(id) }
  }
}
