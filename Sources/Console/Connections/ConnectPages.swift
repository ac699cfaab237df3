import Crypto
import Foundation
import HTTP
import Identity
import IdentityToolkitClient
import Localization
import Templating
import Text

/// A project that's being connected: what was answered, and the credential.
struct ConnectionDraft: Sendable {
  static let subject = "project"

  var answers: Form = ["kind": RemoteProject.Kind.identityPlatform.rawValue]

  /// Nil if an answer is invalid.
  var remote: RemoteProject? {
    RemoteProject.Kind(rawValue: answers.trimmed("kind")).flatMap { kind in
      let url = kind == .countersign ? PublicURL(answers.trimmed("url"))?.origin : nil
      return RemoteProject(kind: kind, id: answers.trimmed("id"), url: url ?? "")
    }
  }

  var access: AccessLevel { AccessLevel(rawValue: answers.trimmed("access")) ?? .read }
  var credential: String { answers.trimmed(Field.credential.name) }
  var title: Message { Message("Connect {project}", ["project": .text(remote?.id ?? "")]) }

  /// It's kept for the administrator, in whichever session they continue.
  static func find(
    _ storage: ConsoleStorage, _ signedIn: SignedIn
  ) async throws -> ConnectionDraft? {
    try await storage.find(
      .connection, about: subject, for: .administrator(signedIn.administrator.id)
    ).flatMap { Form(urlEncoded: $0.revealedText) }.map { ConnectionDraft(answers: $0) }
  }

  /// Checks it, or its credential for another project.
  ///
  /// - Throws: ``InvalidInput`` for an invalid credential, and for a failed check if it has to pass.
  func checked(
    by connections: Connections, of other: RemoteProject? = nil, mustPass: Bool = true,
    at field: String = Field.credential.name
  ) async throws -> NewConnection {
    guard let remote = other ?? remote else { throw Refusal.unreadableForm }
    do {
      var new = try NewConnection(remote, Array(credential.utf8), access)
      try await connections.check(&new)
      guard mustPass, let last = new.check?.findings.last, last.fault != nil else { return new }
      throw InvalidInput.field(field, last.message)
    } catch let error as RemoteCredentialError { throw InvalidInput.field(field, error.message) }
  }

  static func steps(at present: Int) -> [Link] {
    let names = [
      Message("Project"), Message("Commands"), Message("Credential"), Message("Checks"),
      Message("Confirm"),
    ]
    return zip(names, ConsolePaths.connectionSteps.map { $0() } + ["", ""]).enumerated().map {
      Link(text: $1.0, href: $0 + 1 < present ? $1.1 : "", isCurrent: $0 + 1 == present)
    }
  }
}

/// `/projects/new/connection` and the pages below it: connect a project, up to its confirmation.
struct ConnectPages: ConsolePage {
  let parts: ConsoleParts
  let view: Template<ConnectStepView>

  func show(_ signedIn: SignedIn, _ step: Int) async throws -> Response {
    let draft = try await ConnectionDraft.find(identity.consoleStorage, signedIn)
    guard step == 1 || draft != nil else { return .redirect(to: ConsolePaths.connect()) }
    return await page(signedIn, step, draft ?? ConnectionDraft())
  }

  func choose(_ signedIn: SignedIn) async throws -> Response {
    let (form, draft) = (signedIn.form, ConnectionDraft(answers: signedIn.form))
    guard form.trimmed("kind") != PoolKind.hosted.rawValue else {
      return .redirect(to: CreateProject.path())
    }
    guard draft.remote == nil else {
      try await keep(draft, signedIn)
      return .redirect(to: ConsolePaths.connectionCommands())
    }
    let url = Message("Enter an address such as https://mfa.example.com.")
    let isID = RemoteProject(kind: .identityPlatform, id: form.trimmed("id")) != nil
    let fault = try FieldError(PoolError.invalidProjectID)
    return await page(signedIn, 1, draft, [isID ? FieldError(field: "url", text: url) : fault])
  }

  func check(_ signedIn: SignedIn) async throws -> Response {
    guard var draft = try await ConnectionDraft.find(identity.consoleStorage, signedIn) else {
      return .redirect(to: ConsolePaths.connect())
    }
    let (name, typed) = (Field.credential.name, signedIn.form.trimmed(Field.credential.name))
    // Without one, that which is kept is checked again.
    if !typed.isEmpty {
      draft.answers = Form(draft.answers.entries.filter { $0.name != UntrustedText(name) })
      draft.answers.add(name, typed)
    }
    do {
      let new = try await draft.checked(by: identity.connections, mustPass: false)
      try await keep(draft, signedIn)
      return await page(signedIn, 4, draft, check: new.check)
    } catch InvalidInput.fields(let faults) { return await page(signedIn, 3, draft, faults) }
  }

  private func keep(_ draft: ConnectionDraft, _ signedIn: SignedIn) async throws {
    let isKept = try await identity.consoleStorage.keep(
      Secret(draft.answers.urlEncoded), as: .connection, about: ConnectionDraft.subject,
      for: .administrator(signedIn.administrator.id))
    guard isKept else { throw Refusal.unreadableForm }
  }

  private func page(
    _ signedIn: SignedIn, _ step: Int, _ draft: ConnectionDraft, _ errors: [FieldError] = [],
    check: ConnectionCheck? = nil
  ) async -> Response {
    let title = step == 1 ? Message("Connect a project") : draft.title
    let projects = Link(text: Message("Projects"), href: ConsolePaths.projects())
    let frame = await frames.frame(title, for: signedIn, crumbs: [projects], errors: errors)
    let model = ConnectStepView(
      frame: FrameView(frame), step: step, draft: draft, check: check,
      script: frames.assets.keyFileScript)
    return .html(view.render(model), errors: errors)
  }
}

extension Field {
  static let credential: Field = {
    var field = Field.area(
      "remote-credential", Message("Key file (JSON) or token"),
      hint: Message("Encrypted, and never shown again. Delete the file then."),
      #" rows="4" class="mono" autocomplete="off" spellcheck="false""#)
    field.isKept = false
    return field
  }()
}

struct ConnectStepView: ViewModel {
  let frame: FrameView
  let step: Int
  let draft: ConnectionDraft
  /// Nil if the credential isn't checked.
  let check: ConnectionCheck?
  let script: String

  private var fields: [Field] {
    guard step == 1 else { return [Field.credential.shown(nil, frame)] }
    let fields: [Field] = [
      .line("id", Message("Project ID there"), Field.Look.medium),
      .line(
        "url", Message("Address of the other Countersign"),
        hint: Message("Such as https://mfa.example.com. Unused for Google."), Field.Look.medium),
    ]
    return fields.map { $0.shown(draft.answers, frame) }
  }

  private var checks: [Fact] {
    (check?.findings ?? []).map { found in
      let chip = found.fault == nil ? Chip.on(Message("passed")) : Chip.bad(Message("failed"))
      let detail = found.fault?.detail ?? ""
      return Fact(found.message, "\(chip)<span class=\"sub\"><bdi>\(detail)</bdi></span>")
    }
  }

  private var pools: [Fact] {
    guard let check, let config = check.config, let remote = draft.remote else { return [] }
    let kind = PoolKind(rawValue: remote.kind.rawValue) ?? .hosted
    return check.counted.map { tenant, users in
      let mfa = MFAConfiguration(tenant?.mfa ?? config.mfa)
      let count = Message(one: "{count} user", other: "{count} users", ["count": .number(users)])
      return Fact(
        .verbatim(tenant?.displayName ?? remote.id),
        "\(mfa.chip(in: kind)) \(WindowStrip.small(mfa)) \(count)")
    }
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .number(\.step),
    .list("steps") { ConnectionDraft.steps(at: $0.step) },
    .text("action") {
      $0.step == 1 ? ConsolePaths.connect() : ConsolePaths.connectionCredential()
    },
    .text("back") { view in
      view.step == 1
        ? ConsolePaths.projects() : ConnectionDraft.steps(at: view.step)[view.step - 2].href
    },
    .text("confirm") { $0.check?.hasPassed == true ? ConnectProject.path() : nil },
    .flag("isProject") { $0.step == 1 },
    .flag("isCommands") { $0.step == 2 },
    .flag("isCredential") { $0.step == 3 },
    .flag("isChecks") { $0.step == 4 },
    .flag("isGoogle") { $0.draft.remote?.kind != .countersign },
    .flag("isSupport") { $0.draft.access == .support },
    .flag("isPolicy") { $0.draft.access == .policy },
    .list("fields") { $0.fields },
    .text(\.script),
    .text("id") { $0.draft.remote?.id },
    .text("role") { "countersign\($0.draft.access.rawValue.capitalized)" },
    .text("permissions") { $0.draft.access.permissions.joined(separator: ",") },
    .text("tokenRole") { $0.draft.access.tokenRole },
    .list("checks") { $0.checks },
    .list("pools") { $0.pools },
    .text("excess") { $0.check?.permissions?.excess?.joined(separator: ",") },
  ]
}
