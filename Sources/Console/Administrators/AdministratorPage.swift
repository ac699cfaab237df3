import HTTP
import Identity
import Templating

/// `/administrators/{id}`: an administrator's roles, account, and history.
struct AdministratorPage: Sendable {
  let identity: Identity
  let actions: ActionForms
  let view: Template<AdministratorView>

  private var frames: Frames { actions.frames }

  func show(_ signedIn: SignedIn, _ id: String) async throws(Refusal) -> Response {
    try await page(signedIn, id, GrantAnswers(), errors: [])
  }

  func grant(_ signedIn: SignedIn, _ id: String) async throws(Refusal) -> Response {
    let answers = GrantAnswers(signedIn.form)
    let (grant, errors) = answers.grant()
    guard let grant else {
      let errors = errors + (try await actions.unmet(.grantRole, signedIn))
      return try await page(signedIn, id, answers, errors: errors)
    }
    do {
      let outcome = try await identity.administrators.grant(
        grant, to: ID(id), actions.request(signedIn))
      let words = "\(grant.role.name) of \(grant.placeInWords)"
      return actions.leave(
        outcome.value
          ? "Granted: \(words). Effective immediately."
          : "No changes made. They’re already \(words).",
        signedIn, after: outcome, to: ConsolePaths.administrator(id))
    } catch {
      let errors = try await actions.faults(error, .grantRole, signedIn) {
        error throws(Refusal) in try error.fault(answers)
      }
      return try await page(signedIn, id, answers, errors: errors)
    }
  }

  /// `/administrators/{id}/grants/removal`: asks for confirmation before a role is revoked.
  func askForRevocation(_ signedIn: SignedIn, _ id: String) async throws(Refusal) -> Response {
    try await askForRevocation(signedIn, id, GrantAnswers(signedIn.query), errors: [])
  }

  private func askForRevocation(
    _ signedIn: SignedIn, _ id: String, _ answers: GrantAnswers, errors: [FieldError]
  ) async throws(Refusal) -> Response {
    let record = try await AdministratorPage.record(id, identity)
    let administrator = record.administrator
    guard let grant = answers.grant().grant, administrator.grants.contains(grant),
      administrator.id != signedIn.administrator.id
    else { return .redirect(to: ConsolePaths.administrator(id)) }
    let tokens = try await refusing {
      try await identity.serviceTokens.count(madeBy: administrator.id)
    }
    let name = Words.isolated(administrator.displayName)
    var frame = frames.frame(
      "Revoke role · \(name) · Administrators", for: signedIn, tab: .administrators)
    frame.crumbs = [
      Link(text: "Administrators", href: ConsolePaths.administrators()),
      Link(text: Words.short(administrator.displayName), href: ConsolePaths.administrator(id)),
    ]
    var question = ActionQuestion(
      performs: .revokeRole,
      heading: HTML.heading("Revoke a role of", administrator.displayName),
      consequences: [
        "\(name) is no longer \(grant.role.name) of \(grant.placeInWords), in open sessions too.",
        administrator.grants.count == 1
          ? "This is their only role. They can still sign in, but see only their own account."
          : nil,
        tokens == 0
          ? nil
          : "Service tokens they created that exceed their remaining roles are revoked.",
      ].compactMap { $0 }, button: "Revoke role", keep: "Keep role",
      action: ConsolePaths.grantRemoval(id), back: ConsolePaths.administrator(id))
    question.hidden = answers.fields
    question.factsHeading = "This administrator"
    question.facts = [
      Fact("Email", HTML.isolated(administrator.email)),
      Fact("Roles", administrator.grants.cell),
    ]
    return try await actions.ask(question, signedIn, frame, errors: errors)
  }

  func revoke(_ signedIn: SignedIn, _ id: String) async throws(Refusal) -> Response {
    let answers = GrantAnswers(signedIn.form)
    let (typed, errors) = answers.grant()
    guard let grant = typed else { return try await page(signedIn, id, answers, errors: errors) }
    _ = try await AdministratorPage.record(id, identity)
    do {
      let outcome = try await identity.administrators.revoke(
        grant, from: ID(id), actions.request(signedIn))
      let words = "\(grant.role.name) of \(grant.placeInWords)"
      return actions.leave(
        "Revoked: \(words). Effective immediately." + TypedPage.revoked(outcome.value), signedIn,
        after: outcome, to: ConsolePaths.administrator(id))
    } catch {
      if case .failed(.notFound) = error {
        frames.leave("No changes made. They no longer had that role.", for: signedIn)
        return .redirect(to: ConsolePaths.administrator(id))
      }
      let errors = try await actions.faults(error, .revokeRole, signedIn) {
        error throws(Refusal) in try error.fault(answers)
      }
      guard case .refused = error else {
        return try await page(signedIn, id, GrantAnswers(), errors: errors)
      }
      return try await askForRevocation(signedIn, id, answers, errors: errors)
    }
  }

  private func page(
    _ signedIn: SignedIn, _ id: String, _ answers: GrantAnswers, errors: [FieldError]
  ) async throws(Refusal) -> Response {
    let record = try await AdministratorPage.record(id, identity)
    let history = try await refusing {
      try await identity.administrators.history(of: record.administrator.id)
    }
    let mayChange =
      signedIn.administrator.may(.manageAdministrators, in: nil)
      && record.administrator.id != signedIn.administrator.id
    let places =
      mayChange ? try await Places(identity: identity).few(for: signedIn.administrator) : nil
    let name = Words.isolated(record.administrator.displayName)
    var frame = frames.frame("\(name) · Administrators", for: signedIn, tab: .administrators)
    frame.errors = errors
    frame.crumbs = [Link(text: "Administrators", href: ConsolePaths.administrators())]
    let frameView = FrameView(frame)
    let model = AdministratorView(
      frame: frameView, signedIn: signedIn, record: record, mayChange: mayChange,
      history: history,
      fields: GrantFields(answers: answers, places: places, frame: frameView),
      authorization: try await actions.fields(.grantRole, signedIn, frameView))
    return .html(view.render(model), status: errors.isEmpty ? .ok : .unprocessableContent)
  }

  static func record(
    _ id: String, _ identity: Identity
  ) async throws(Refusal) -> AdministratorRecord {
    do { return try await identity.administrators.record(ID(id)) } catch {
      guard case .unavailable = error else { throw .notFound }
      throw .unavailable(error)
    }
  }
}

struct AdministratorView: ViewModel {
  let frame: FrameView
  let signedIn: SignedIn
  let record: AdministratorRecord
  let mayChange: Bool
  let history: [AuditRow]
  let fields: GrantFields
  let authorization: ActionFields

  private var id: String { record.administrator.id.text }

  private var facts: [Fact] {
    [
      Fact("Email", HTML.isolated(record.administrator.email)),
      Fact("Created", frame.times.moment(record.createdAt)),
      Fact("Last sign-in", record.lastSignInAt.map(frame.times.past) ?? AccountChips.never),
      Fact("Second factor", record.hasSecondFactor ? Chip.on("on") : Chip.off("off")),
    ] + (record.enrolledAt.map { [Fact("Set up", frame.times.moment($0))] } ?? [])
      + (record.factorUsedAt.map { [Fact("Last code used", frame.times.past($0))] } ?? [])
  }

  static let keys: Keys<Self> = [
    .object("frame") { $0.frame },
    .text("name") { $0.record.administrator.displayName },
    .text("csrf") { $0.signedIn.session.csrfToken },
    .flag("mayChange") { $0.mayChange },
    .text("ownAccount") {
      $0.record.administrator.id == $0.signedIn.administrator.id ? ConsolePaths.account() : nil
    },
    .flag("hasGrants") { !$0.record.administrator.grants.isEmpty },
    .list("grants") { view in
      view.record.administrator.grants.map {
        GrantRow(
          grant: $0, removal: view.mayChange ? ConsolePaths.grantRemoval(view.id) : nil)
      }
    },
    .text("grantAction") { ConsolePaths.grants($0.id) },
    .object("fields") { $0.fields },
    .object("authorization") { $0.authorization },
    .text("reset") {
      $0.mayChange && $0.record.hasSecondFactor ? ConsolePaths.factorReset($0.id) : nil
    },
    .text("removal") { $0.mayChange ? ConsolePaths.administratorRemoval($0.id) : nil },
    .list("facts") { $0.facts },
    .text("audit") { view in
      guard view.signedIn.administrator.may(.readAudit, in: nil) else { return nil }
      return (["kind": "administrator", "object": view.id] as Form).query(
        of: ConsolePaths.instanceAudit())
    },
    .flag("hasHistory") { !$0.history.isEmpty },
    .list("history") { view in
      view.history.map { HistoryRow($0, view.frame.times, view.frame.catalog) }
    },
  ]
}

struct GrantRow: ViewModel {
  let grant: Grant
  /// The address of the page that revokes the role; nil if the reader isn't allowed to.
  let removal: String?

  static let keys: Keys<Self> = [
    .text("role") { Words.sentence($0.grant.role.name) },
    .text("summary") { $0.grant.role.summary },
    .text("place") { $0.grant.placeInWords },
    .text("removal") { row in
      row.removal.map { GrantAnswers(row.grant).query.query(of: $0) }
    },
  ]
}
