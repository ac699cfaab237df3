import HTTP
import Identity
import Templating

/// `/administrators/{id}`: one administrator: roles, second factor, history.
struct AdministratorPage: Sendable {
  let identity: Identity
  let frames: Frames
  let view: Template<AdministratorView>

  func show(_ signedIn: SignedIn, _ id: String) async throws(Refusal) -> Response {
    try await page(signedIn, id, GrantAnswers(), errors: [])
  }

  func grant(_ signedIn: SignedIn, _ id: String) async throws(Refusal) -> Response {
    let answers = GrantAnswers(signedIn.form)
    let (grant, errors) = answers.grant()
    guard let grant else { return try await page(signedIn, id, answers, errors: errors) }
    do {
      let isNew = try await identity.administrators.grant(
        grant, to: ID(id), by: signedIn.author)
      let words = "\(grant.role.name) of \(grant.placeInWords)"
      frames.leave(
        isNew ? "Granted: \(words). It counts at once." : "They are \(words) already.",
        for: signedIn)
    } catch {
      return try await page(signedIn, id, answers, errors: [try error.fault(answers)])
    }
    return .redirect(to: ConsolePaths.administrator(id))
  }

  func revoke(_ signedIn: SignedIn, _ id: String) async throws(Refusal) -> Response {
    let answers = GrantAnswers(signedIn.form)
    let (typed, errors) = answers.grant()
    guard let grant = typed else { return try await page(signedIn, id, answers, errors: errors) }
    _ = try await AdministratorPage.record(id, identity)
    do {
      let tokens = try await identity.administrators.revoke(
        grant, from: ID(id), by: signedIn.author)
      let words = "\(grant.role.name) of \(grant.placeInWords)"
      frames.leave(
        "Revoked: \(words). It counts at once." + TypedPage.revoked(tokens), for: signedIn)
    } catch {
      if case .notFound = error {
        frames.leave("They had lost that role already.", for: signedIn)
        return .redirect(to: ConsolePaths.administrator(id))
      }
      return try await page(signedIn, id, GrantAnswers(), errors: [try error.fault(answers)])
    }
    return .redirect(to: ConsolePaths.administrator(id))
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
      fields: GrantFields(answers: answers, places: places, frame: frameView))
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

  private var id: String { record.administrator.id.text }

  private var facts: [Fact] {
    [
      Fact("E-mail", HTML.isolated(record.administrator.email)),
      Fact("Since", frame.times.moment(record.createdAt)),
      Fact("Last sign-in", record.lastSignInAt.map(frame.times.past) ?? AccountChips.never),
      Fact("Second factor", record.hasSecondFactor ? Chip.on("on") : Chip.off("off")),
    ] + (record.enrolledAt.map { [Fact("Set up", frame.times.moment($0))] } ?? [])
      + (record.factorUsedAt.map { [Fact("Last code", frame.times.past($0))] } ?? [])
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
          grant: $0, csrf: view.mayChange ? view.signedIn.session.csrfToken : nil,
          action: ConsolePaths.grantRemoval(view.id))
      }
    },
    .text("grantAction") { ConsolePaths.grants($0.id) },
    .object("fields") { $0.fields },
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
    .list("history") { view in view.history.map { HistoryRow($0, view.frame.times) } },
  ]
}

struct GrantRow: ViewModel {
  let grant: Grant
  /// The token of the form that revokes it; nil for those who may not.
  let csrf: String?
  let action: String

  static let keys: Keys<Self> = [
    .text("role") { Words.sentence($0.grant.role.name) },
    .text("summary") { $0.grant.role.summary },
    .text("place") { $0.grant.placeInWords },
    .text("csrf") { $0.csrf },
    .text("action") { $0.action },
    .text("roleValue") { $0.grant.role.rawValue },
    .text("project") { $0.grant.project?.text ?? "" },
    .text("tenant") { $0.grant.tenant?.text ?? "" },
  ]
}
