import HTTP
import Identity
import Localization
import Templating

/// `S/users/{uid}/code-attempts.csv`: the codes of the chart on a user's page, as CSV.
///
/// Distances describe how a person behaves, so the file requires the permission to export users, and
/// is recorded.
struct CodeAttemptsFile: Sendable {
  let identity: Identity
  let actions: ActionForms

  func download(_ context: ScopeContext, _ uid: String) async throws -> Response {
    let account = try await identity.account(uid, in: context)
    let download = UserDownload(identity: identity, actions: actions)
    return try await download.response(
      in: context, named: "code-attempts-\(context.scope.objectID)",
      asking: Self.question(account, in: context.scope),
      at: ConsolePaths.codeAttemptsFile(context.scope, account.id.text)
    ) { () in
      let page = try await identity.codeAttempts.list(account)
      let table = DriftTimeline.table(page.items, context.signedIn.times)
      return (
        table.csv(actions.frames.catalog), .user(account, in: context.scope), table.caption
      )
    }
  }

  private static func question(_ account: Account, in scope: Scope) -> FormPage {
    FormPage(
      title: Message("Download code attempts"),
      crumbs: Link.crumbs(to: account, in: scope),
      heading: Message(
        "Download code attempts of {user}?", ["user": .name(Formatted.short(account.label))]),
      consequences: [
        Message("The file contains the time, offset, and result of each TOTP code in the chart."),
        Message("The download is recorded in the audit log."),
      ], isQuestion: true, button: Message("Download as CSV"),
      back: ConsolePaths.user(scope, account.id.text))
  }
}
