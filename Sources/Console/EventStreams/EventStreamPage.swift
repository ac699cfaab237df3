import HTTP
import Identity
import Localization
import Templating

/// `/event-streams/{id}`: the state of a stream, and the entries that its destination rejected.
struct EventStreamPage: Sendable {
  let streams: EventStreams
  let actions: ActionForms
  let view: Template<EventStreamView>

  static var crumb: Link {
    Link(text: Message("event-streams.event-streams"), href: ConsolePaths.eventStreams())
  }

  func show(_ signedIn: SignedIn, _ id: String) async throws(Refusal) -> Response {
    let state = try await Self.state(id, streams)
    let letters = try await refusing { try await streams.deadLetters(ID(id)) }
    var frame = actions.frames.frame(Self.title(state.stream), for: signedIn)
    frame.crumbs = [Self.crumb]
    return .html(
      view.render(
        EventStreamView(
          frame: FrameView(frame), csrf: signedIn.session.csrfToken, state: state,
          letters: letters)))
  }

  func test(_ signedIn: SignedIn, _ id: String) async throws(Refusal) -> Response {
    do {
      let outcome = try await streams.test(ID(id), actions.request(signedIn))
      return actions.leave(
        Message("event-streams.test-requested"), signedIn, after: outcome,
        to: ConsolePaths.eventStream(id))
    } catch {
      throw try Self.refusal(error.failure(of: .testEventStream))
    }
  }

  func retry(
    _ signedIn: SignedIn, _ id: String, _ sequence: String
  ) async throws(Refusal) -> Response {
    guard let number = Int64(sequence) else { throw .notFound }
    do {
      let outcome = try await streams.retry(number, of: ID(id), actions.request(signedIn))
      return actions.leave(
        outcome.value
          ? Message("event-streams.retry-requested")
          : Message("event-streams.retry-requested-paused"), signedIn, after: outcome,
        to: ConsolePaths.eventStream(id))
    } catch {
      throw try Self.refusal(error.failure(of: .retryDeadLetter))
    }
  }

  static func title(_ stream: EventStream) -> Message {
    Message(
      "event-streams.page-title", ["name": .name(Formatted.short(stream.name))])
  }

  static func state(
    _ id: String, _ streams: EventStreams
  ) async throws(Refusal) -> EventStreams.State {
    do { return try await streams.find(ID(id)) } catch { throw refusal(error) }
  }

  static func refusal(_ error: EventStreamError) -> Refusal {
    switch error {
    case .notFound, .letterNotFound: .notFound
    default: .unavailable(error)
    }
  }
}

struct EventStreamView: ViewModel {
  let frame: FrameView
  let csrf: String
  let state: EventStreams.State
  let letters: [DeadLetter]

  private var stream: EventStream { state.stream }
  private var id: String { stream.id.text }

  private var facts: [Fact] {
    let times = frame.times
    var facts = [
      Fact(Message("common.state"), state.chip),
      Fact(Message("event-streams.kind"), stream.kind.text),
      Fact(Message("event-streams.destination"), HTML.address(stream.shownTarget)),
      Fact(Message("common.created"), times.past(stream.createdAt)),
      Fact(Message("event-streams.added-by"), HTML.isolated(stream.createdBy)),
      Fact(
        Message("event-streams.position"), Message.value(.number(Int(stream.position)))),
      Fact(Message("event-streams.lag"), Message.value(.number(Int(state.lag)))),
    ]
    if let oldest = state.oldest {
      facts.append(Fact(Message("event-streams.oldest"), times.past(oldest)))
    }
    facts.append(
      Fact(
        Message("event-streams.last-delivery"),
        stream.deliveredAt.map(times.past) ?? AccountChips.never))
    if stream.failures > 0 {
      facts.append(
        Fact(Message("event-streams.failures"), Message.value(.number(stream.failures))))
    }
    if let at = stream.failedAt {
      facts.append(Fact(Message("event-streams.last-failure"), times.past(at)))
    }
    if let failure = stream.failure {
      facts.append(Fact(Message("event-streams.cause"), failure.message))
    }
    if stream.pausedAt == nil, let next = stream.nextTryAt {
      facts.append(Fact(Message("event-streams.next-attempt"), times.moment(next)))
    }
    switch stream.test {
    case .none: break
    case .pending:
      facts.append(
        Fact(Message("event-streams.test-event"), Message("event-streams.test-pending")))
    case .delivered(let at):
      facts.append(Fact(Message("event-streams.test-delivered"), times.past(at)))
    case .failed(let at, let failure):
      facts.append(Fact(Message("event-streams.test-failed"), times.past(at)))
      facts.append(Fact(Message("event-streams.test-cause"), failure.message))
    }
    return facts
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text(\.csrf),
    .text("name") { $0.stream.name },
    .list("facts") { $0.facts },
    .text("test") { ConsolePaths.eventStreamTest($0.id) },
    .text("settings") { ConsolePaths.eventStreamSettings($0.id) },
    .text("pause") { view in
      view.stream.pausedAt == nil ? ConsolePaths.eventStreamPause(view.id) : nil
    },
    .text("resume") { view in
      view.stream.pausedAt == nil ? nil : ConsolePaths.eventStreamResumption(view.id)
    },
    .text("deletion") { ConsolePaths.eventStreamDeletion($0.id) },
    .flag("isPlain") { $0.stream.kind == .syslog },
    .flag("hasLetters") { !$0.letters.isEmpty },
    .list("letters") { view in
      view.letters.map {
        DeadLetterRow(
          letter: $0, stream: view.stream, csrf: view.csrf, times: view.frame.times)
      }
    },
    .text("more") { view in
      view.state.deadLetters > view.letters.count
        ? Message(
          "event-streams.more-letters",
          ["count": .number(view.state.deadLetters - view.letters.count)]) : nil
    },
  ]
}

/// A rejected entry.
struct DeadLetterRow: ViewModel {
  let letter: DeadLetter
  let stream: EventStream
  let csrf: String
  let times: Times

  static let keys: Keys<Self> = [
    .text("sequence") { Message.value(.number(Int($0.letter.sequence))) },
    .text("action") {
      $0.letter.row.map(AuditText.action) ?? Message("event-streams.entry-expired")
    },
    .text("resource") { $0.letter.row.map(AuditText.object) },
    .text("actor") { $0.letter.row.map(AuditText.who) },
    .markup("at") { row in row.letter.row.map { row.times.moment($0.at) } },
    .text("cause") { $0.letter.failure.message },
    .text("attempts") {
      Message("event-streams.attempts", ["count": .number($0.letter.attempts)])
    },
    .markup("refused") { $0.times.past($0.letter.refusedAt) },
    .text("pending") { row in
      guard row.letter.isRetried else { return nil as Message? }
      return row.stream.pausedAt == nil
        ? Message("event-streams.retry-pending") : Message("event-streams.retry-paused")
    },
    .text("retry") { ConsolePaths.deadLetterRetry($0.stream.id.text, String($0.letter.sequence)) },
    .text("removal") {
      ConsolePaths.deadLetterRemoval($0.stream.id.text, String($0.letter.sequence))
    },
    .text(\.csrf),
  ]
}
