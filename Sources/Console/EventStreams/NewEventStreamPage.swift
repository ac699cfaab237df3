import Crypto
import HTTP
import Identity
import Localization
import Templating

/// `/event-streams/new`: adds a destination, and shows the secret of a webhook once.
struct NewEventStreamPage: Sendable {
  let streams: EventStreams
  let actions: ActionForms
  let form: Template<NewEventStreamView>
  let secretPage: SigningSecretPage

  func show(_ signedIn: SignedIn) async throws(Refusal) -> Response {
    try await page(signedIn, EventStreamAnswers(), errors: [])
  }

  func add(_ signedIn: SignedIn) async throws(Refusal) -> Response {
    let answers = EventStreamAnswers(signedIn.form)
    var errors = try EventStreamFault.fields(answers.kind, answers.target, answers.name)
    if answers.kind == nil {
      errors.insert(
        FieldError(field: "kind", text: Message("event-streams.kind-required")), at: 0)
    }
    guard errors.isEmpty, let kind = answers.kind,
      let destination = EventDestination(kind, answers.target)
    else {
      errors += try await actions.unmet(.addEventStream, signedIn)
      return try await page(signedIn, answers, errors: errors)
    }
    let outcome: ActionOutcome<(stream: EventStream, secret: Secret?)>
    do {
      outcome = try await streams.add(
        destination, name: answers.name, fromStart: answers.start == .all,
        actions.request(signedIn))
    } catch {
      let errors = try await actions.faults(
        error, .addEventStream, signedIn, EventStreamFault.field)
      return try await page(signedIn, answers, errors: errors)
    }
    let stream = outcome.value.stream
    guard let secret = outcome.value.secret else {
      return actions.leave(
        Message("event-streams.added"), signedIn, after: outcome,
        to: ConsolePaths.eventStream(stream.id.text))
    }
    return secretPage.show(
      secret, of: stream, title: Message("event-streams.title-of-created"),
      heading: Message(
        "event-streams.created", ["name": .name(stream.name)]), signedIn, after: outcome)
  }

  private func page(
    _ signedIn: SignedIn, _ answers: EventStreamAnswers, errors: [FieldError]
  ) async throws(Refusal) -> Response {
    var frame = actions.frames.frame(Message("event-streams.add"), for: signedIn)
    frame.errors = errors
    frame.crumbs = [EventStreamPage.crumb]
    let framed = FrameView(frame)
    let model = NewEventStreamView(
      frame: framed, csrf: signedIn.session.csrfToken, answers: answers,
      fields: try await actions.fields(.addEventStream, signedIn, framed))
    return .html(form.render(model), status: errors.isEmpty ? .ok : .unprocessableContent)
  }

}

/// What an administrator entered to add a stream.
struct EventStreamAnswers: Sendable {
  enum Start: String, CaseIterable {
    case next, all
  }

  var kind: EventStream.Kind?
  var name = ""
  var target = ""
  var start = Start.next

  init() {}

  init(_ form: Form) {
    kind = EventStream.Kind(rawValue: form.trimmed("kind"))
    name = form.trimmed("name")
    target = form.trimmed("target")
    start = Start(rawValue: form.trimmed("start")) ?? .next
  }
}

struct NewEventStreamView: ViewModel {
  let frame: FrameView
  let csrf: String
  let answers: EventStreamAnswers
  let fields: ActionFields

  private var kinds: [EventStreamChoice] {
    EventStream.Kind.allCases.enumerated().map { index, kind in
      EventStreamChoice(
        id: index == 0 ? "kind" : "kind-\(kind.rawValue)", value: kind.rawValue, text: kind.text,
        hint: kind.hint, isChosen: answers.kind == kind)
    }
  }

  private var starts: [EventStreamChoice] {
    EventStreamAnswers.Start.allCases.map { start in
      EventStreamChoice(
        id: "start-\(start.rawValue)", value: start.rawValue,
        text: start == .next
          ? Message("event-streams.start-next") : Message("event-streams.start-all"),
        hint: start == .next
          ? Message("event-streams.start-next-hint") : Message("event-streams.start-all-hint"),
        isChosen: answers.start == start)
    }
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text(\.csrf),
    .text("action") { _ in ConsolePaths.newEventStream() },
    .text("back") { _ in ConsolePaths.eventStreams() },
    .list("kinds") { $0.kinds },
    .text("kindError") { $0.frame.error(at: "kind") },
    .text("name") { $0.answers.name },
    .text("nameError") { $0.frame.error(at: "name") },
    .text("target") { $0.answers.target },
    .text("targetError") { $0.frame.error(at: "target") },
    .list("starts") { $0.starts },
    .object("authorization") { $0.fields },
  ]
}

/// An option of the form with its explanation.
struct EventStreamChoice: ViewModel {
  let id: String
  let value: String
  let text: Message
  let hint: Message
  let isChosen: Bool

  static let keys: Keys<Self> = [
    .text(\.id),
    .text(\.value),
    .text(\.text),
    .text(\.hint),
    .flag(\.isChosen),
  ]
}
