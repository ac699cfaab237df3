import HTTP
import Identity
import Localization
import Templating
import Text

/// `/bulk-removals`: past bulk removals across user pools, and the form for a new one.
struct RemovalGroupsPage: Sendable {
  let identity: Identity
  let frames: Frames
  let view: Template<RemovalGroupsView>

  private var removals: BulkRemovals { identity.bulkRemovals }

  func show(_ signedIn: SignedIn) async throws(Refusal) -> Response {
    try await page(signedIn, typed: "", error: nil)
  }

  /// Creates a draft from a pasted list, from the users that a search found, or from those of them
  /// that are selected, and redirects to its preview.
  func look(_ signedIn: SignedIn) async throws(Refusal) -> Response {
    let form = signedIn.form
    guard let typed = form.text("list", atMost: Form.longestText) else {
      guard let users = try await selection(signedIn) else {
        let error = RemovalsPage.tooManyMatch(BulkRemovals.mostLinesAcrossPools)
        return try await page(signedIn, typed: "", error: error)
      }
      guard !users.isEmpty else {
        return try await page(signedIn, typed: "", error: RemovalsPage.noneSelected)
      }
      return try await draft(signedIn) { () async throws(BulkError) in
        try await removals.draft(users, by: signedIn.author, signedIn.session)
      }
    }
    let list: BulkList
    do {
      list = try BulkList(typed)
    } catch {
      return try await page(signedIn, typed: typed, error: Self.fault(error))
    }
    return try await draft(signedIn, typed: typed) { () async throws(BulkError) in
      try await removals.draft(across: list, by: signedIn.author, signedIn.session)
    }
  }

  private func draft(
    _ signedIn: SignedIn, typed: String = "", _ body: () async throws(BulkError) -> Int64
  ) async throws(Refusal) -> Response {
    do {
      return .redirect(to: ConsolePaths.removalGroup(String(try await body())))
    } catch {
      guard case .tooLong = error else { throw BulkFaults.refusal(error) }
      return try await page(signedIn, typed: typed, error: Self.fault(.tooLong))
    }
  }

  /// Returns the selected users, or all that a search finds; nil if it finds too many.
  private func selection(_ signedIn: SignedIn) async throws(Refusal) -> [BulkSelection]? {
    let text = signedIn.query.trimmed("q")
    guard text.isEmpty else {
      let found = try await refusing {
        try await identity.accounts.search(
          everywhere: text, visibleTo: signedIn.administrator, part: .whole)
      }
      guard !found.isCut else { return nil }
      return found.hits.map {
        BulkSelection(
          project: $0.scope.project, tenant: $0.scope.tenant, account: $0.account.id)
      }
    }
    return BulkSelection.users(in: signedIn.form)
  }

  private static func fault(_ error: BulkListError) -> FieldError {
    RemovalsPage.fault(error, longest: BulkRemovals.mostLinesAcrossPools)
  }

  private func page(
    _ signedIn: SignedIn, typed: String, error: FieldError?
  ) async throws(Refusal) -> Response {
    let size = PageSize(signedIn.query)
    let after = signedIn.query.text("after")
    let groups = try await refusing {
      try await removals.groups(
        for: signedIn.administrator.id, after: after, limit: size.rows)
    }
    let path = ConsolePaths.removalGroups()
    if error == nil, let first = signedIn.firstPage(of: path, insteadOf: groups) { return first }
    var frame = frames.frame(Message("removals.title"), for: signedIn)
    frame.errors = error.map { [$0] } ?? []
    frame.crumbs = [Link(text: Message("common.users"), href: ConsolePaths.findUsers())]
    let model = RemovalGroupsView(
      frame: FrameView(frame), groups: groups, size: size, after: after,
      form: ListForm(signedIn, typed: typed, error: error?.text))
    return .html(view.render(model), status: error == nil ? .ok : .unprocessableContent)
  }
}

extension BulkSelection {
  /// Returns the users that a ``UserSelection`` sends.
  static func users(in form: Form) -> [BulkSelection] {
    form.all("user").compactMap { BulkSelection(page: $0.text) }
  }

  /// Creates a selection from the address of a user's page; nil for any other text.
  private init?(page: String) {
    guard page.utf8.count <= 2_000, let target = Target(page) else { return nil }
    if let (project, uid) = ConsolePaths.user.ofProject.match(target) {
      self.init(project: ID(project), tenant: nil, account: ID(uid))
    } else if let (project, tenant, uid) = ConsolePaths.user.ofTenant.match(target) {
      self.init(project: ID(project), tenant: ID(tenant), account: ID(uid))
    } else {
      return nil
    }
  }
}

struct RemovalGroupsView: ViewModel {
  let frame: FrameView
  let groups: Page<BulkGroup>
  let size: PageSize
  let after: String?
  let form: ListForm

  static let keys: Keys<Self> = [
    .object(\.frame),
    .object(\.form),
    .flag("hasRows") { !$0.groups.items.isEmpty },
    .list("rows") { view in
      view.groups.items.map { RemovalGroupRow(group: $0, times: view.frame.times) }
    },
    .object("pager") { view in
      PagerView(
        shown: Message("removals.n-removals", ["count": .number(view.groups.items.count)]),
        path: ConsolePaths.removalGroups(), query: view.size.form, after: view.after,
        next: view.groups.next)
    },
    .text("daysKept") { _ in Message.value(.number(BulkRemovals.daysKept)) },
    .object("empty") { _ in
      EmptyView(heading: Message("removals.empty"), sentence: Message("removals.empty-hint"))
    },
  ]
}

/// A bulk removal across pools in the list.
struct RemovalGroupRow: ViewModel {
  let group: BulkGroup
  let times: Times

  static let keys: Keys<Self> = [
    .text("href") { ConsolePaths.removalGroup(String($0.group.id)) },
    .text("name") { GroupText.usersInPools($0.group.parts) },
    .text("number") { String($0.group.id) },
    .text("reason") { $0.group.reason?.name },
    .markup("state") { GroupText.chip($0.group) },
    .text("done") {
      Message(
        "removals.done",
        ["removed": .number($0.group.usersRemoved), "users": .number($0.group.users)])
    },
    .text("who") { $0.group.requesterName },
    .markup("when") { $0.times.past($0.group.createdAt) },
  ]
}

/// Bulk removals across pools as text.
enum GroupText {
  /// Returns the number of users and pools, such as “40 users in 3 pools”.
  static func usersInPools(_ parts: [BulkGroup.Part]) -> Message {
    Message(
      "removals.users-in-pools",
      [
        "users": .message(BulkText.users(parts.users)),
        "count": .number(parts.count { $0.job.users > 0 }),
      ])
  }

  static func chip(_ group: BulkGroup) -> Markup {
    let states = group.parts.map(\.job.state)
    let state = [BulkJob.State.running, .waiting, .stopped].first(where: states.contains) ?? .done
    return BulkText.chip(state, undo: group.undoState)
  }

  /// Returns the state of a pool's part.
  static func chip(_ part: BulkGroup.Part) -> Markup {
    BulkText.chip(part.job.state, undo: part.undoState)
  }
}

extension BulkGroup {
  var reason: SupportReason? { parts.lazy.compactMap(\.job.reason).first }
  var usersDone: Int { parts.reduce(0) { $0 + $1.job.usersDone } }
  var usersRemoved: Int { parts.reduce(0) { $0 + $1.job.usersRemoved } }
}
