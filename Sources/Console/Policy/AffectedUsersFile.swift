import HTTP
import Identity
import Localization
import OTP
import Templating

/// `S/policy/affected.csv`: the users with a correct code outside a window, as CSV.
///
/// Distances describe how people behave, so the file requires the permission to export users, and is
/// recorded.
struct AffectedUsersFile: Sendable {
  let identity: Identity
  let actions: ActionForms

  private var catalog: Catalog { actions.frames.catalog }
  private static let batch = 500

  func download(_ context: PoolContext) async throws -> Response {
    let query = AffectedUsersQuery(context.signedIn.query)
    let download = UserDownload(identity: identity, actions: actions)
    return try await download.response(
      in: context, named: "affected-users", asking: question(context.pool, query),
      at: query.form.query(of: ConsolePaths.affectedUsersFile(context.pool))
    ) { () in
      let (file, count) = try await Self.file(catalog) { after, limit in
        try await identity.activity.affected(
          in: context.pool, beyond: query.window.adjacentIntervals, days: query.days,
          after: after, limit: limit)
      }
      return (file, .pools([DownloadedUsers.PoolCount(context.pool, count: count)]), heading(query))
    }
  }

  private func heading(_ query: AffectedUsersQuery) -> Message {
    Message(
      "Users with correct codes outside {window}", ["window": .text(WindowText.name(query.window))])
  }

  private func question(_ pool: Pool, _ query: AffectedUsersQuery) -> FormPage {
    let list = query.form.query(of: ConsolePaths.affectedUsers(pool))
    return FormPage(
      title: Message("Download affected users"),
      crumbs: [Link(text: heading(query), href: list)],
      consequences: [
        Message("The file has each user’s email address, name, UID, and distances."),
        Message("The download is recorded in the audit log."),
      ], isQuestion: true, button: Message("Download as CSV"), back: list)
  }

  /// Returns the file of the users that `read` returns after a cursor, up to a limit.
  ///
  /// With more than `longest` users, a last row says that the file is incomplete.
  static func file(
    _ catalog: Catalog, atMost longest: Int = UsersFile.longest,
    _ read: (_ after: String?, _ limit: Int) async throws -> Page<AffectedUser>
  ) async throws -> (file: CSV, rows: Int) {
    var file = CSV(
      [
        Message("User"), Message("Name"), .verbatim("uid"),
        Message("Largest distance"), Message("Distance in intervals"),
        Message("Codes outside"),
      ].map { catalog.text($0) })
    var (after, count): (String?, Int) = (nil, 0)
    repeat {
      let page = try await read(after, min(batch, longest - count))
      for user in page.items {
        file.add([
          user.label, user.displayName ?? "", user.account.text, String(user.reach),
          user.distance.map { String($0) } ?? "", String(user.codes),
        ])
      }
      count += page.items.count
      after = page.next
      // Lets other tasks of this thread run.
      await Task.yield()
    } while after != nil && count < longest
    if after != nil {
      file.end(
        with: catalog.text(
          Message(
            one: "Incomplete: only the first {count} row is included.",
            other: "Incomplete: only the first {count} rows are included.",
            ["count": .number(count)])))
    }
    return (file, count)
  }
}
