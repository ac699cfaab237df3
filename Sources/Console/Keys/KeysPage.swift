import HTTP
import Identity
import Templating

/// `/projects/{p}/settings/keys`: makes an API key, and revokes one after asking.
struct KeysPage: Sendable {
  let keys: APIKeys
  let frames: Frames
  let view: Template<KeyRevocationView>

  func create(_ context: ProjectContext) async throws(Refusal) -> Response {
    let key: APIKey
    do {
      key = try await keys.create(for: context.project.id, by: context.signedIn.author)
    } catch {
      throw Refusal(error)
    }
    frames.leave("Made the API key \(key.label).", for: context.signedIn)
    return .redirect(to: Self.list(context))
  }

  func ask(_ context: ProjectContext, _ id: String) async throws(Refusal) -> Response {
    let all = try await refusing { try await keys.list(context.project.id) }
    guard let key = all.first(where: { $0.id.text == id }) else { throw .notFound }
    var frame = try await frames.frame("Revoke a key · Settings", in: context, tab: .settings)
    frame.crumbs = [Link(text: "Settings", href: Self.list(context))]
    return .html(
      view.render(
        KeyRevocationView(
          frame: FrameView(frame), context: context, key: key, isLast: all.count == 1)))
  }

  func revoke(_ context: ProjectContext, _ id: String) async throws(Refusal) -> Response {
    do {
      try await keys.revoke(ID(id), of: context.project.id, by: context.signedIn.author)
    } catch {
      throw Refusal(error)
    }
    frames.leave(
      "Revoked the API key. Calls with it are refused from now on.", for: context.signedIn)
    return .redirect(to: Self.list(context))
  }

  private static func list(_ context: ProjectContext) -> String {
    ConsolePaths.settings(context.project.scope)
  }
}

extension Refusal {
  fileprivate init(_ error: APIKeyError) {
    switch error {
    case .projectNotFound, .notFound: self = .notFound
    case .unavailable: self = .unavailable(error)
    }
  }
}

struct KeyRevocationView: ViewModel {
  let frame: FrameView
  let context: ProjectContext
  let key: APIKey
  let isLast: Bool

  private var consequences: [String] {
    var lines = [
      "Every call with this key is refused at once: applications that carry it can neither sign users in nor renew their tokens."
    ]
    lines.append(
      isLast
        ? "It is the only key of this project, so no application reaches it until another key is made and shipped."
        : "Applications that carry another key of this project go on.")
    lines.append("It cannot be undone; a new key is another one.")
    return lines
  }

  private var facts: [Fact] {
    [
      Fact("Key", ConnectView.copied(key.text)),
      Fact("Created", frame.times.moment(key.createdAt)),
      Fact("Last used", key.lastUsedAt.map(frame.times.moment) ?? AccountChips.never),
    ]
  }

  static let keys: Keys<Self> = [
    .object("frame") { $0.frame },
    .text("label") { $0.key.label },
    .text("action") { ConsolePaths.keyRevocation($0.context.project.id.text, $0.key.id.text) },
    .text("csrf") { $0.context.signedIn.session.csrfToken },
    .texts("consequences") { $0.consequences },
    .text("keep") { ConsolePaths.settings($0.context.project.scope) },
    .list("facts") { $0.facts },
  ]
}
