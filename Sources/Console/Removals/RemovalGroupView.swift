import HTTP
import Identity
import Localization
import Templating

/// The preview of a bulk removal across pools, with the form to run it.
struct RemovalGroupDraftView: ViewModel {
  let frame: FrameView
  let group: BulkGroup
  let users: GroupUsers
  let eligibility: BulkGroupEligibility
  let refusal: SupportRefusal?
  let answers: ActionInput
  let number: String
  /// The numbers of the jobs of the chosen pools.
  let chosen: Set<Int64>
  let csrf: String
  let carriesMail: Bool
  /// The strictest of what happens in the selected pools when the users sign in.
  let signIn: SignInWithoutFactor

  private var consequences: [Message] {
    [
      Message(
        "removals.factors-of-users",
        [
          "count": .number(eligibility.factors),
          "users": .message(BulkText.users(eligibility.users)),
        ]),
      carriesMail ? Message("removals.users-notified") : Message("removals.users-not-notified"),
      BulkText.signIn(signIn, frame.times),
      eligibility.undoHours == 0
        ? Message("removals.final-somewhere")
        : undoing(
          within: .message(Formatted.duration(seconds: eligibility.undoHours * 3_600))),
    ]
  }

  private func undoing(within period: Message.Value) -> Message {
    eligibility.selected.contains(where: \.requiresCaller)
      ? Message("removals.undo-of-some", ["period": period])
      : Message("removals.undo-of-all", ["period": period])
  }

  private var pools: [GroupPoolChoice] {
    let parts = group.parts.filter { $0.job.users > 0 }
    return parts.enumerated().map { index, part in
      GroupPoolChoice(
        index: index, part: part, isChosen: chosen.contains(part.job.id),
        approval: eligibility.approvals[part.job.id],
        isBlocked: eligibility.blocked.contains(part.job.id))
    }
  }

  private var action: String { ConsolePaths.removalGroup(String(group.id)) }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("users") { GroupText.usersInPools($0.eligibility.selected) },
    .flag("hasUsers") { $0.group.users > 0 },
    .optional(\.refusal),
    .optional("form") { view -> SupportForm? in
      guard view.refusal == nil, view.group.users > 0 else { return nil }
      return SupportForm(
        frame: view.frame, eligibility: view.eligibility.form, answers: view.answers,
        action: view.action)
    },
    .text("action") { $0.action },
    .text(\.csrf),
    .texts("consequences") { $0.consequences },
    .list("pools") { $0.pools },
    .text("poolsError") { $0.frame.error(at: "pools") },
    .flag("asksForNumber") { $0.eligibility.asksForNumber(.stolen) },
    .flag("isAlwaysFinal") { $0.eligibility.undoHours == 0 },
    .text("numberLabel") {
      Message("removals.number-of-selected", ["number": .number($0.eligibility.users)])
    },
    .text(\.number),
    .text("numberError") { $0.frame.error(at: "number") },
    .text("button") {
      Message("removals.remove-factors", ["count": .number($0.eligibility.users)])
    },
    .text("back") { _ in ConsolePaths.removalGroups() },
    .object("people") { $0.users },
  ]
}

/// A pool that the agent can leave out.
struct GroupPoolChoice: ViewModel {
  let index: Int
  let part: BulkGroup.Part
  let isChosen: Bool
  let approval: Approval.Cause?
  let isBlocked: Bool

  static let keys: Keys<Self> = [
    // The first ID is the field's name, which the error summary links to.
    .text("id") { $0.index == 0 ? "pools" : "pool-\($0.part.job.id)" },
    .text("value") { String($0.part.job.id) },
    .text("name") { ApprovalText.place($0.part.scope) },
    .text("hint") { BulkText.users($0.part.job.users) },
    .text("approval") { choice in choice.approval.map { ApprovalText.why($0) } },
    .flag(\.isBlocked),
    .flag("isTicked") { $0.isChosen && !$0.isBlocked },
  ]
}

/// The users of a bulk removal across pools, and the lines that aren't part of it.
struct GroupUsers: ViewModel {
  let group: BulkGroup
  let page: Page<BulkGroupItem>
  let refresh: RemovalRefresh

  static let keys: Keys<Self> = [
    .flag("hasRows") { !$0.page.items.isEmpty },
    .list("rows") { $0.page.items.map(GroupUserRow.init) },
    .object("pager") { users in
      PagerView(
        shown: Message("removals.n-lines", ["count": .number(users.page.items.count)]),
        path: users.refresh.path, query: users.refresh.query, after: users.refresh.after,
        next: users.page.next)
    },
    .flag("hasMisses") { !$0.group.misses.isEmpty },
    .list("misses") { $0.group.misses.map(GroupMissRow.init) },
  ]
}

struct GroupUserRow: ViewModel {
  let row: BulkGroupItem

  static let keys: Keys<Self> = [
    .text("name") { Formatted.short($0.row.name ?? $0.row.item.given, 120) },
    .text("href") { view in
      view.row.item.account.map { ConsolePaths.user(view.row.part.scope, $0.text) }
    },
    .text("pool") { ApprovalText.place($0.row.part.scope) },
    .text("result") { BulkText.result($0.row.item, of: $0.row.part.job) },
    .number("line") { $0.row.item.line },
  ]
}

/// A line that isn't part of the removal.
struct GroupMissRow: ViewModel {
  let miss: BulkGroup.Miss

  static let keys: Keys<Self> = [
    .text("given") { Formatted.short($0.miss.given, 120) },
    .text("href") { row in
      row.miss.user.map { ConsolePaths.user($0.scope, $0.id.text) }
    },
    .text("pool") { row in row.miss.user.map { ApprovalText.place($0.scope) } },
    .text("result") {
      $0.miss.user == nil
        ? Message("removals.not-found-anywhere") : Message("removals.no-permission-in-pool")
    },
    .number("line") { $0.miss.line },
  ]
}

/// The progress of a bulk removal across pools.
struct RemovalGroupView: ViewModel {
  let frame: FrameView
  let group: BulkGroup
  let users: GroupUsers
  let reader: SignedIn
  /// Who can undo the removal; nil if the reader can, or nobody.
  let undoByOthers: OtherAdministratorsView?

  private var figures: [Figure] {
    RemovalJobView.figures(
      done: group.usersDone, of: group.users, removed: group.usersRemoved,
      factors: group.parts.reduce(0) { $0 + $1.job.factorsRemoved },
      sessions: group.parts.reduce(0) { $0 + $1.job.sessionsEnded })
      + (group.undone.users == 0 ? [] : RemovalJobView.figures(of: group.undone))
  }

  private var facts: [Fact] {
    var facts = [
      Fact(Message("removals.started-by"), HTML.isolated(group.requesterName)),
      Fact(Message("removals.reason"), group.reason?.name ?? Message("removals.no-reason")),
    ]
    // All parts have the same; those of deleted pools keep only their counts.
    if let job = group.parts.first(where: { !$0.isDeleted && $0.job.reason != nil })?.job {
      facts += RemovalJobView.remarks(job)
    }
    facts.append(Fact(Message("common.created"), frame.times.past(group.createdAt)))
    for name in Set(group.parts.compactMap(\.undo?.administratorName)).sorted() {
      facts.append(Fact(Message("removals.undone-by"), HTML.isolated(name)))
    }
    return facts
  }

  private var undoable: Int { group.undoable.reduce(0) { $0 + $1.undoable } }

  private var isOwn: Bool { group.requester == reader.administrator.id }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("users") { GroupText.usersInPools($0.group.parts) },
    .text("id") { String($0.group.id) },
    .markup("state") { GroupText.chip($0.group) },
    .flag("isRunning") { $0.group.isRunning },
    .flag("mayStop") { $0.group.parts.contains { $0.job.state == .running } },
    .object("refresh") { $0.users.refresh },
    .markup("share") { view in
      view.group.isBeingUndone
        ? Meter.share(view.group.undone.processed, of: view.group.undone.users)
        : Meter.share(view.group.usersDone, of: view.group.users)
    },
    .flag("isBeingUndone") { $0.group.isBeingUndone },
    .list("figures") { $0.figures },
    .text("end") { ConsolePaths.endOfRemovalGroup(String($0.group.id)) },
    .text("csrf") { $0.reader.session.csrfToken },
    .text("undo") {
      $0.undoable > 0 && !$0.isOwn
        ? ConsolePaths.undoOfRemovalGroup(String($0.group.id)) : nil
    },
    .optional(\.undoByOthers),
    .text("undoButton") { Message("removals.undo-for", ["count": .number($0.undoable)]) },
    .list("parts") { view in view.group.parts.map { GroupPartRow(part: $0) } },
    .list("facts") { $0.facts },
    .object("people") { $0.users },
  ]
}

/// A pool's part of a bulk removal.
struct GroupPartRow: ViewModel {
  let part: BulkGroup.Part

  static let keys: Keys<Self> = [
    .text("href") {
      $0.part.isDeleted
        ? nil : ConsolePaths.bulkRemoval($0.part.scope, String($0.part.job.id))
    },
    .text("pool") { ApprovalText.place($0.part.scope) },
    .markup("state") { GroupText.chip($0.part) },
    .text("done") {
      Message(
        "removals.done",
        [
          "removed": .number($0.part.job.usersRemoved), "users": .number($0.part.job.users),
        ])
    },
    .text("note") { row -> Message? in
      if row.part.isDeleted { return Message("removals.pool-deleted") }
      return row.part.undoable > 0 && row.part.requiresCaller
        ? Message("removals.undo-requires-caller")
        : row.part.undoEndingSentence ?? row.part.job.endingSentence
    },
  ]
}
