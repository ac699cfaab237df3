import HTTP
import Identity
import Templating

/// `S/users/{uid}/factors/{enrolment}/name`: gives a factor another name.
struct FactorNamePage: Sendable {
  let identity: Identity
  let frames: Frames
  let view: Template<FactorNameView>

  func show(
    _ context: ScopeContext, _ uid: String, _ enrolment: String
  ) async throws(Refusal) -> Response {
    try await page(context, uid, enrolment, typed: nil, errors: [])
  }

  func rename(
    _ context: ScopeContext, _ uid: String, _ enrolment: String
  ) async throws(Refusal) -> Response {
    let name = context.signedIn.form.trimmed("name")
    do {
      try await identity.desk.check(
        context.signedIn.session, on: ID(uid), in: context.scope, needing: .removeFactors)
    } catch {
      let fault = try DeskFaults.fault(error, context.signedIn.times)
      return try await page(
        context, uid, enrolment, typed: name,
        errors: [FieldError(field: "name", text: fault.text)])
    }
    do {
      try await identity.enrolments.rename(
        context.scope, ID(uid), ID(enrolment), to: name, by: context.signedIn.author)
    } catch {
      let fault = try Self.fault(error)
      return try await page(context, uid, enrolment, typed: name, errors: [fault])
    }
    frames.leave("The factor is called “\(Words.isolated(name))”.", for: context.signedIn)
    return .redirect(to: ConsolePaths.user(context.scope, uid))
  }

  private func page(
    _ context: ScopeContext, _ uid: String, _ enrolment: String, typed: String?,
    errors: [FieldError]
  ) async throws(Refusal) -> Response {
    let scope = context.scope
    let found = try await refusing { try await identity.accounts.find(scope, ID(uid)) }
    guard let account = found,
      let factor = account.factors.first(where: { $0.id == ID(enrolment) })
    else { throw .notFound }
    let user = Words.isolated(account.label)
    var frame = try await frames.frame(
      "Rename a factor · \(user) · Users", in: context, tab: .users)
    frame.errors = errors
    frame.crumbs = Link.crumbs(to: account, in: scope)
    let model = FactorNameView(
      frame: FrameView(frame), context: context, account: account, factor: factor,
      name: typed ?? factor.displayName ?? "")
    return .html(view.render(model), status: errors.isEmpty ? .ok : .unprocessableContent)
  }

  private static func fault(_ error: EnrolmentError) throws(Refusal) -> FieldError {
    switch error {
    case .missingDisplayName:
      return FieldError(field: "name", text: "Write a name, such as the phone’s model.")
    case .displayNameTooLong:
      return FieldError(
        field: "name", text: "Shorten the name to \(Factor.longestName) characters.")
    case .changesLocked:
      return FieldError(field: "name", text: DeskFaults.sentence(.changesLocked))
    case .unavailable: throw .unavailable(error)
    default: throw .notFound
    }
  }
}

struct FactorNameView: ViewModel {
  let frame: FrameView
  let context: ScopeContext
  let account: Account
  let factor: Factor
  let name: String

  static let keys: Keys<Self> = [
    .object("frame") { $0.frame },
    .text("action") {
      ConsolePaths.factorName($0.context.scope, $0.account.id.text, $0.factor.id.text)
    },
    .text("cancel") { ConsolePaths.user($0.context.scope, $0.account.id.text) },
    .text("csrf") { $0.context.signedIn.session.csrfToken },
    .text("factorName") { Words.short($0.factor.label) },
    .text("userName") { Words.short($0.account.label) },
    .text("name") { $0.name },
    .text("error") { $0.frame.error(at: "name") },
    .number("longest") { _ in Factor.longestName },
  ]
}
