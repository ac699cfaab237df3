import Crypto
import HTTP
import Identity
import Localization
import Templating
import Text

/// `/event-streams/{id}/settings`: changes a stream's name or destination, and replaces the secret of a
/// webhook.
struct EventStreamSettingsPage: Sendable {
  let streams: EventStreams
  let actions: ActionForms
  let form: Template<EventStreamSettingsView>
  let secretPage: SigningSecretPage

  func show(_ signedIn: SignedIn, _ id: String) async throws(Refusal) -> Response {
    let stream = try await EventStreamPage.state(id, streams).stream
    return try await page(signedIn, stream, EventStreamForm(stream))
  }

  func save(_ signedIn: SignedIn, _ id: String) async throws(Refusal) -> Response {
    var answers = EventStreamForm(signedIn.form)
    let (name, target) = (answers.name, answers.target)
    let stream = try await EventStreamPage.state(id, streams).stream
    let invalid = try EventStreamFault.fields(stream.kind, target, name)
    guard invalid.isEmpty else {
      let errors = invalid + (try await actions.unmet(.changeEventStream, signedIn))
      return try await page(signedIn, stream, answers, errors: errors)
    }
    do {
      let outcome = try await streams.change(
        ID(id), name: name, target: target, renewsSecret: answers.renewsSecret,
        expecting: answers.version, actions.request(signedIn))
      guard let changed = outcome.value?.stream, let secret = outcome.value?.secret else {
        let text =
          outcome.value == nil
          ? Message("event-streams.unchanged") : Message("event-streams.changed")
        return actions.leave(text, signedIn, after: outcome, to: ConsolePaths.eventStream(id))
      }
      return secretPage.show(
        secret, of: changed, title: Message("event-streams.title-of-renewed"),
        heading: Message("event-streams.renewed", ["name": .name(changed.name)]), signedIn,
        after: outcome)
    } catch {
      if case .failed(.changedMeanwhile(let current)) = error {
        answers.version = current.version
        return try await page(signedIn, current, answers, isReplacing: true)
      }
      let errors = try await actions.faults(
        error, .changeEventStream, signedIn, EventStreamFault.field)
      return try await page(signedIn, stream, answers, errors: errors)
    }
  }

  private func page(
    _ signedIn: SignedIn, _ stream: EventStream, _ answers: EventStreamForm,
    errors: [FieldError] = [], isReplacing: Bool = false
  ) async throws(Refusal) -> Response {
    let shown = Message.Value.name(Formatted.short(stream.name))
    var frame = actions.frames.frame(
      Message("event-streams.settings-title", ["name": shown]), for: signedIn)
    frame.errors = errors
    frame.crumbs = [
      EventStreamPage.crumb,
      Link(text: Formatted.short(stream.name), href: ConsolePaths.eventStream(stream.id.text)),
    ]
    let framed = FrameView(frame)
    let model = EventStreamSettingsView(
      frame: framed, csrf: signedIn.session.csrfToken, stream: stream, answers: answers,
      isReplacing: isReplacing,
      fields: try await actions.fields(.changeEventStream, signedIn, framed))
    let status: Status =
      isReplacing ? .conflict : errors.isEmpty ? .ok : .unprocessableContent
    return .html(form.render(model), status: status)
  }
}

/// The input of the form.
struct EventStreamForm: Sendable {
  /// The version of the stream's settings when the form was opened.
  var version: SettingsVersion
  let name: String
  let target: String
  let renewsSecret: Bool

  init(_ stream: EventStream) {
    (version, name, target) = (stream.version, stream.name, stream.target)
    renewsSecret = false
  }

  init(_ form: Form) {
    version = form.settingsVersion
    (name, target) = (form.trimmed("name"), form.trimmed("target"))
    renewsSecret = form["secret"] == "renew"
  }

  /// The values for comparison.
  fileprivate var facts: [Fact] {
    [
      Fact(Message("event-streams.destination"), HTML.isolated(target)),
      Fact(Message("common.name"), HTML.isolated(name)),
    ]
  }
}

struct EventStreamSettingsView: ViewModel {
  let frame: FrameView
  let csrf: String
  let stream: EventStream
  let answers: EventStreamForm
  /// Whether someone else changed the stream after the form was opened.
  let isReplacing: Bool
  let fields: ActionFields

  private var id: String { stream.id.text }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text(\.csrf),
    .text("action") { ConsolePaths.eventStreamSettings($0.id) },
    .text("back") { ConsolePaths.eventStream($0.id) },
    .text("kind") { $0.stream.kind.text },
    .text("settingsVersion") { $0.answers.version.text },
    .optional("conflict") { view in
      view.isReplacing
        ? SettingsConflict(
          Message("event-streams.changed-meanwhile"), current: EventStreamForm(view.stream).facts,
          entered: view.answers.facts, discard: ConsolePaths.eventStreamSettings(view.id)) : nil
    },
    .text("name") { $0.answers.name },
    .text("nameError") { $0.frame.error(at: "name") },
    .text("target") { $0.answers.target },
    .text("targetError") { $0.frame.error(at: "target") },
    .flag("isSigned") { $0.stream.kind == .webhook },
    .flag("renewsSecret") { $0.answers.renewsSecret },
    .object("authorization") { $0.fields },
  ]
}
