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

  func download(_ context: PoolContext, _ uid: String) async throws -> Response {
    let account = try await identity.account(uid, in: context)
    let download = UserDownload(identity: identity, actions: actions)
    return try await download.response(
      in: context, named: "code-attempts-\(context.pool.objectID)",
      asking: Self.question(account, in: context.pool),
      at: ConsolePaths.codeAttemptsFile(context.pool, account.id.text)
    ) { () in
      let page = try await identity.codeAttempts.list(account)
      let table = DriftTimeline.table(page.items, context.signedIn.times)
      return (
        table.csv(actions.frames.catalog), .user(account, in: context.pool), table.caption
      )
    }
  }

  private static func question(_ account: Account, in pool: Pool) -> FormPage {
    FormPage(
      title: Message("Download code attempts"),
      crumbs: Link.crumbs(to: account, in: pool),
      heading: Message(
        "Download code attempts of {user}?", ["user": .name(Formatted.short(account.label))]),
      consequences: [
        Message("The file contains the time, offset, and result of each TOTP code in the chart."),
        Message("The download is recorded in the audit log."),
      ], isQuestion: true, button: Message("Download as CSV"),
      back: ConsolePaths.user(pool, account.id.text))
  }
}
