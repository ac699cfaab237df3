import HTTP
import Identity
import Localization
import Templating
import Text

/// The form around a list of users whose rows have checkboxes: it removes the second factors of
/// selected users, or of all that the list's pages show.
struct UserSelection: ViewModel {
  let action: String
  let csrf: String
  let isOnePage: Bool
  let total: Int?
  /// The address that selects all users on all pages.
  let all: String

  /// The address, for a list that isn't on one page and isn't too long for a bulk removal.
  private var selectAll: String? {
    guard !isOnePage, let total, total <= BulkList.longest else { return nil }
    return all
  }

  static let keys: Keys<Self> = [
    .text(\.action),
    .text(\.csrf),
    .text("selectedUsers") {
      $0.isOnePage
        ? Message("Remove second factors from selected users…")
        : Message("Remove second factors from users selected on this page…")
    },
    .text("selectAll") { $0.selectAll },
    .text("allUsers") {
      Message(
        one: "Remove second factors from all {count} users…",
        other: "Remove second factors from all {count} users…", ["count": .number($0.total ?? 0)])
    },
  ]
}

extension Form {
  /// Returns the users of a pool whom a ``UserSelection`` sends; those of other pools are left out.
  func selectedUsers(of pool: Pool) -> [ID<Account>] {
    all("user").compactMap { Self.user(of: pool, at: $0.text) }
  }

  private static func user(of pool: Pool, at address: String) -> ID<Account>? {
    guard address.utf8.count <= 2_000, let target = Target(address) else { return nil }
    if let tenant = pool.tenant {
      guard let (project, id, uid) = ConsolePaths.user.ofTenant.match(target),
        ID(project) == pool.project, ID(id) == tenant
      else { return nil }
      return ID(uid)
    }
    guard let (project, uid) = ConsolePaths.user.ofProject.match(target),
      ID(project) == pool.project
    else { return nil }
    return ID(uid)
  }
}
