import HTTP
import Identity
import Localization
import Templating

/// `/account/passkeys/{id}`: renames or removes one of the administrator's passkeys.
struct PasskeyPages: ConsolePage {
  let parts: ConsoleParts
  let view: Template<PasskeyView>
  let removal: Template<PasskeyRemovalView>

  func show(_ signedIn: SignedIn, _ id: String) async throws -> Response {
    let passkey = try await find(id, signedIn)
    return await page(signedIn, passkey, name: passkey.name)
  }

  func rename(_ signedIn: SignedIn, _ id: String) async throws -> Response {
    let name = signedIn.form.trimmed("name")
    do {
      try await identity.passkeys.rename(ID(id), name, in: signedIn.session, by: signedIn.author)
    } catch let error as PasskeyError {
      switch error {
      case .nameRequired, .nameTooLong:
        let passkey = try await find(id, signedIn)
        return await page(signedIn, passkey, name: name, errors: [Self.nameFault(error)])
      default: return try refused(error, signedIn)
      }
    }
    return frames.leave(Message("Passkey renamed."), for: signedIn, to: ConsolePaths.account())
  }

  func askForRemoval(_ signedIn: SignedIn, _ id: String) async throws -> Response {
    let passkey = try await find(id, signedIn)
    let session = signedIn.session
    if try await identity.passkeys.needsReauthentication(session) {
      return .redirect(to: signedIn.factorReauthentication)
    }
    return await removalPage(signedIn, passkey)
  }

  func remove(_ signedIn: SignedIn, _ id: String) async throws -> Response {
    do {
      try await identity.passkeys.remove(ID(id), in: signedIn.session, by: signedIn.author)
    } catch let error as PasskeyError {
      guard case .mandatory(let necessity) = error else { return try refused(error, signedIn) }
      return await removalPage(
        signedIn, try await find(id, signedIn), errors: [PasskeyFault.error(necessity.message)])
    }
    return frames.leave(Message("Passkey removed."), for: signedIn, to: ConsolePaths.account())
  }

  static func nameFault(_ error: PasskeyError) -> FieldError {
    if case .nameTooLong = error {
      return FieldError(
        field: "name",
        text: Message(
          one: "Shorten the name to {count} character.",
          other: "Shorten the name to {count} characters.", ["count": .number(Passkey.longestName)])
      )
    }
    return FieldError(field: "name", text: Message("Enter a name."))
  }

  private func refused(_ error: PasskeyError, _ signedIn: SignedIn) throws -> Response {
    guard case .reauthenticationRequired = error else { throw error }
    return .redirect(to: signedIn.factorReauthentication)
  }

  private func find(_ id: String, _ signedIn: SignedIn) async throws -> Passkey {
    let own = try await identity.passkeys.list(of: signedIn.administrator.id)
    guard let passkey = own.first(where: { $0.id == ID(id) }) else { throw Refusal.notFound }
    return passkey
  }

  private func page(
    _ signedIn: SignedIn, _ passkey: Passkey, name: String, errors: [FieldError] = []
  ) async -> Response {
    let frame = await frames.account(Message("Passkey"), signedIn, errors: errors)
    let model = PasskeyView(frame: FrameView(frame), passkey: passkey, name: name)
    return .html(view.render(model), errors: errors)
  }

  private func removalPage(
    _ signedIn: SignedIn, _ passkey: Passkey, errors: [FieldError] = []
  ) async -> Response {
    let frame = await frames.account(Message("Remove passkey"), signedIn, errors: errors)
    let model = PasskeyRemovalView(frame: FrameView(frame), passkey: passkey)
    return .html(removal.render(model), errors: errors)
  }
}

extension PasskeyNecessity {
  fileprivate var message: Message {
    switch self {
    case .lastSecondFactor:
      Message(
        """
        You must have a second factor, and this is your only one. Add another passkey or set up an \
        authenticator app first.
        """)
    case .lastPasskey:
      Message("Your role requires a passkey, and this is your only one. Add another passkey first.")
    case .lastOwner: GrantText.lastOwner
    case .breakGlass:
      Message(
        """
        Password sign-in is off, your account is the break-glass account, and it has no other \
        passkey and no password. Add another passkey first.
        """)
    }
  }
}

struct PasskeyView: ViewModel {
  let frame: FrameView
  let passkey: Passkey
  let name: String

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("heading") {
      Message("Passkey “{name}”", ["name": .name(Formatted.short($0.passkey.name))])
    },
    .text(\.name),
    .text("nameError") { $0.frame.error(at: "name") },
    .text("action") { ConsolePaths.ownPasskey($0.passkey.id.text) },
    .text("removal") { ConsolePaths.ownPasskeyRemoval($0.passkey.id.text) },
    .text("back") { _ in ConsolePaths.account() },
    .list("facts") { view in
      [
        Fact(Message("Created"), view.frame.times.past(view.passkey.createdAt)),
        Fact(
          Message("Last used"),
          view.passkey.lastUsedAt.map(view.frame.times.past)
            ?? Markup(escaping: Message("Never"))),
        Fact(
          Message("Synced to other devices"),
          view.passkey.isBackedUp ? Message("Yes") : Message("No")),
      ]
    },
  ]
}

struct PasskeyRemovalView: ViewModel {
  let frame: FrameView
  let passkey: Passkey

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("heading") {
      Message("Remove the passkey “{name}”?", ["name": .name(Formatted.short($0.passkey.name))])
    },
    .texts("sentences") { _ in
      [
        Message(
          "You can no longer sign in with it. Delete it from your device or password manager too."),
        Message("Your other sessions end."),
      ]
    },
    .text("action") { ConsolePaths.ownPasskeyRemoval($0.passkey.id.text) },
    .text("back") { _ in ConsolePaths.account() },
  ]
}

enum PasskeysRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let new = NewPasskeyPage(
      parts: parts, view: try parts.template("passkeys/new"),
      codes: try parts.template("account/codes"), destinations: table.destinations)
    table.settingUp(.get, ConsolePaths.newPasskey, new.show)
    table.settingUp(.post, ConsolePaths.newPasskey, new.create)

    let own = PasskeyPages(
      parts: parts, view: try parts.template("passkeys/passkey"),
      removal: try parts.template("passkeys/removal"))
    table.signedIn(.get, ConsolePaths.ownPasskey, own.show)
    table.signedIn(.post, ConsolePaths.ownPasskey, own.rename)
    table.signedIn(.get, ConsolePaths.ownPasskeyRemoval, own.askForRemoval)
    table.signedIn(.post, ConsolePaths.ownPasskeyRemoval, own.remove)
  }
}

extension ConsolePaths {
  static let newPasskey = Path("account", "passkeys", "new")
  static let ownPasskey = Path("account", "passkeys", nil, parameters: String.self)
  static let ownPasskeyRemoval = Path(
    "account", "passkeys", nil, "removal", parameters: String.self)
}
