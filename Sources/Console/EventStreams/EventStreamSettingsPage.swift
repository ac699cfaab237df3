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
    return try await page(
      signedIn, stream, name: stream.name, target: stream.target, renewsSecret: false, errors: [])
  }

  func save(_ signedIn: SignedIn, _ id: String) async throws(Refusal) -> Response {
    let form = signedIn.form
    let (name, target) = (form.trimmed("name"), form.trimmed("target"))
    let renewsSecret = form["secret"] == "renew"
    let stream = try await EventStreamPage.state(id, streams).stream
    let invalid = try EventStreamFault.fields(stream.kind, target, name)
    guard invalid.isEmpty else {
      let errors = invalid + (try await actions.unmet(.changeEventStream, signedIn))
      return try await page(
        signedIn, stream, name: name, target: target, renewsSecret: renewsSecret, errors: errors)
    }
    do {
      let outcome = try await streams.change(
        ID(id), name: name, target: target, renewsSecret: renewsSecret, actions.request(signedIn))
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
      let errors = try await actions.faults(
        error, .changeEventStream, signedIn, EventStreamFault.field)
      return try await page(
        signedIn, stream, name: name, target: target, renewsSecret: renewsSecret, errors: errors)
    }
  }

  private func page(
    _ signedIn: SignedIn, _ stream: EventStream, name: String, target: String, renewsSecret: Bool,
    errors: [FieldError]
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
      frame: framed, csrf: signedIn.session.csrfToken, stream: stream, name: name, target: target,
      renewsSecret: renewsSecret,
      fields: try await actions.fields(.changeEventStream, signedIn, framed))
    return .html(form.render(model), status: errors.isEmpty ? .ok : .unprocessableContent)
  }
}

struct EventStreamSettingsView: ViewModel {
  let frame: FrameView
  let csrf: String
  let stream: EventStream
  let name: String
  let target: String
  let renewsSecret: Bool
  let fields: ActionFields

  private var id: String { stream.id.text }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text(\.csrf),
    .text("action") { ConsolePaths.eventStreamSettings($0.id) },
    .text("back") { ConsolePaths.eventStream($0.id) },
    .text("kind") { $0.stream.kind.text },
    .text(\.name),
    .text("nameError") { $0.frame.error(at: "name") },
    .text(\.target),
    .text("targetError") { $0.frame.error(at: "target") },
    .flag("isSigned") { $0.stream.kind == .webhook },
    .flag(\.renewsSecret),
    .object("authorization") { $0.fields },
  ]
}
