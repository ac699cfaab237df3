import Crypto
import Database

public struct Reviews: Sendable {
  let store: Store
  let audit: Audit
  let keys: EvidenceKeys
  private let digests = PolicyStampCache<ID<Project>, [UInt8]>()

  /// Returns projects whose next review is due today or in the next days, first due first.
  ///
  /// Only projects that the administrator can review are listed.
  public func upcoming(
    visibleTo administrator: Administrator, within days: Int, limit: Int
  ) async throws -> [(signOff: SignOff, projectName: String)] {
    let now = store.clock.now()
    let end = Day(now.advanced(bySeconds: Int64(days + 1) * 86_400))
    return try await due(visibleTo: administrator, from: Day(now), before: end, limit: limit)
  }

  /// Returns projects whose next review is overdue, longest overdue first.
  ///
  /// Only projects that the administrator can review are listed.
  public func overdue(
    visibleTo administrator: Administrator, limit: Int
  ) async throws -> [(signOff: SignOff, projectName: String)] {
    try await due(
      visibleTo: administrator, from: nil, before: Day(store.clock.now()), limit: limit)
  }

  /// How old a project is, in days, until it's listed as never signed off.
  public static let firstReviewAfter = 90

  /// Returns projects that were never signed off ``firstReviewAfter`` days after they were created, by
  /// ID.
  ///
  /// Only projects that the administrator can review are listed.
  public func neverSignedOff(
    visibleTo administrator: Administrator, limit: Int
  ) async throws -> [(id: ID<Project>, name: String)] {
    guard administrator.maySomewhere(.signOffReview) else { return [] }
    let latest = store.clock.now().advanced(bySeconds: -Int64(Self.firstReviewAfter) * 86_400)
    let filter: SQL =
      if let projects = Self.reviewable(by: administrator) {
        "p.project_id IN (\(list: projects))"
      } else {
        "p.project_id > ''"
      }
    return try await store.read { connection in
      try connection.all(
        """
        SELECT p.project_id, p.display_name FROM project p
        WHERE \(filter) AND p.deleted_at IS NULL AND p.created_at < \(latest)
          AND NOT EXISTS (SELECT 1 FROM sign_off o WHERE o.project_id = p.project_id)
        ORDER BY p.project_id LIMIT \(limit)
        """
      ) { (try $0.next(), try $0.next()) }
    }
  }

  private func due(
    visibleTo administrator: Administrator, from first: Day?, before last: Day, limit: Int
  ) async throws -> [(signOff: SignOff, projectName: String)] {
    guard administrator.maySomewhere(.signOffReview) else { return [] }
    var filter: SQL = ""
    if let first { filter += " AND due_on >= \(first.description)" }
    if let projects = Self.reviewable(by: administrator) {
      // An expression, so that the database reads the due ones in their order.
      filter += " AND project_id || '' IN (\(list: projects))"
    }
    let condition = filter
    return try await store.read { connection in
      try Self.due(before: last, condition, limit: limit, connection).map { signOff in
        (signOff, try Pools.find(project: signOff.project, tenant: nil, connection).projectName)
      }
    }
  }

  /// Returns the IDs of the projects that an administrator can review; nil for all projects.
  ///
  /// Includes the empty ID, which no project has, as lists of projects do.
  private static func reviewable(by administrator: Administrator) -> [String]? {
    guard !administrator.may(.signOffReview, in: nil) else { return nil }
    let granted = administrator.grants.filter {
      $0.tenant == nil && $0.role.permissions.contains(.signOffReview)
    }
    return [""] + granted.compactMap(\.project?.text)
  }

  /// The number of latest sign-offs that a submitted form is compared with.
  private static let mostRepeated = 100

  /// Signs off the policies of all pools of a project, in the console.
  ///
  /// A form that was submitted twice is one sign-off: the form names the last sign-off from before it
  /// was opened, and if a later one has its reviewer, policies, due day, and note, that's returned.
  ///
  /// `last` is the number of the last sign-off when the form was opened, 0 if there was none; nil
  /// for a form that doesn't say, which is always a new sign-off. `dueOn` is the day on which the
  /// next review is due; nil for invalid input.
  ///
  /// - Returns: The sign-off, and who signed off since if it existed.
  public func signOff(
    _ project: ID<Project>, seen digest: String, after last: Int64? = nil, dueOn: Day?,
    _ request: ActionRequest
  ) async throws -> ActionOutcome<SubmittedSignOff> {
    try await store.run(.signOffReview, by: .console(request), in: ActionTarget(project: project)) {
      context, connection in
      let today = Day(context.now)
      let latest = Day(context.now.advanced(bySeconds: Int64(SignOff.longestInterval) * 86_400))
      guard let dueOn, dueOn > today, dueOn <= latest else { throw ReviewError.invalidDueDay }
      guard request.note.count <= ActionRequest.longestNote else { throw ReviewError.noteTooLong }
      let stamp = try Self.stamp(of: project, connection)
      let set = try PolicySet.read(project, connection)
      let current = set.digest
      guard Hex.encode(current) == digest else { throw ReviewError.changedMeanwhile }
      let author = context.author.actor
      // Another reviewer may have signed off in between.
      let since =
        try last.map { last in
          try Self.signOffs(of: project, limit: Self.mostRepeated, connection)
            .prefix { $0.id > last }
        } ?? []
      let same = since.first { other in
        other.reviewer.text == author.id && other.digest == digest && other.dueOn == dueOn
          && other.note == request.note
      }
      if let same {
        return SubmittedSignOff(
          signOff: same, later: since.first.flatMap { $0.id == same.id ? nil : $0 })
      }
      try connection.run(
        "UPDATE sign_off SET latest = 0 WHERE project_id = \(project) AND latest = 1")
      let signOff = try connection.first(
        """
        INSERT INTO sign_off (project_id, signed_at, reviewer_id, reviewer_name, note, due_on,
          digest, pools, policy_stamp, latest)
        VALUES (\(project), \(context.now), \(author.id), \(author.name),
          \(request.note), \(dueOn.description), \(current), \(set.pools.count), \(stamp), 1)
        RETURNING \(SignOff.columns)
        """
      ) { try SignOff(&$0) }
      guard let signOff else { throw Failure("a sign-off without a row") }
      let pool = try Pools.find(project: project, tenant: nil, connection)
      var entry = AuditEntry(
        .policySignOff, .project, project.text, name: pool.projectName, in: pool)
      entry.add(.policyDigest, .text(signOff.digest))
      entry.add(.pools, .number(signOff.pools))
      entry.add(.reviewDue, .day(dueOn))
      if !request.note.isEmpty { entry.note = request.note }
      try context.record(entry, connection)
      return SubmittedSignOff(signOff: signOff, later: nil)
    }
  }

  /// The maximum number of due reviews that are read for reminders at a time.
  private static let mostDue = 1_000
  /// The maximum number of administrators who are reminded instead of a reviewer.
  private static let mostReminded = 20

  /// Reminds reviewers by email of reviews that are due today or overdue, each once.
  ///
  /// If the reviewer can't sign off anymore, all who can are reminded. Does nothing without a mail server; the console lists what's overdue anyway.
  ///
  /// - Returns: True if there may be more.
  func remind(at now: Instant, _ connection: borrowing Connection) throws -> Bool {
    guard store.outbox.carriesMail else { return false }
    let tomorrow = Day(now).next
    var reminded = 0
    let due = try Self.due(
      before: tomorrow, "AND reminded_at IS NULL", limit: Self.mostDue, connection)
    for signOff in due {
      let pool = try Pools.find(project: signOff.project, tenant: nil, connection)
      let reviewer = try Administrators.present(signOff.reviewer, at: now, connection)
        .flatMap { $0.may(.signOffReview, in: pool) ? $0 : nil }
      let readers: [(id: ID<Administrator>, email: String)] =
        if let reviewer {
          [(reviewer.id, reviewer.email)]
        } else {
          try Administrators.recipients(
            with: .signOffReview, around: pool, atMost: Self.mostReminded, at: now, connection
          ).map { ($0.id, $0.email) }
        }
      guard !readers.isEmpty else { continue }
      let mail = ReviewDueMail(
        pool: pool, signOff: signOff, isToReviewer: reviewer != nil,
        link: store.links.review(of: signOff.project))
      for reader in readers {
        try store.outbox.add(
          .reviewDue, .reviewDue(mail),
          to: OutboxMessage.Reader(id: reader.id, permission: .signOffReview), at: reader.email,
          in: pool, now, connection)
      }
      try connection.run(
        """
        UPDATE sign_off SET reminded_at = \(now) WHERE sign_off_id = \(signOff.id)
        """)
      reminded += 1
      if reminded == CleanupLimit.costlyRows { return true }
    }
    return false
  }

  func status(
    of project: ID<Project>, stamp: Int64, at now: Instant, _ connection: borrowing Connection
  ) throws -> ReviewStatus {
    guard let signOff = try Self.signOffs(of: project, limit: 1, connection).first else {
      return ReviewStatus(signOff: nil, state: .never)
    }
    let isSame =
      try signOff.stamp == stamp
      || Hex.encode(digest(of: project, stamp, connection)) == signOff.digest
    let isOverdue = signOff.isOverdue(at: now)
    return ReviewStatus(
      signOff: signOff,
      state: !isSame ? .changed(isOverdue: isOverdue) : isOverdue ? .overdue : .current)
  }

  func digest(
    of project: ID<Project>, _ stamp: Int64, _ connection: borrowing Connection
  ) throws -> [UInt8] {
    try digests.value(of: project, stamp: stamp) {
      try PolicySet.read(project, connection).digest
    }
  }

  /// Returns the digest of policies that were just read, so that they aren't read again for it.
  func digest(of set: PolicySet, _ stamp: Int64) -> [UInt8] {
    digests.value(of: set.project, stamp: stamp) { set.digest }
  }

  static func signOffs(
    of project: ID<Project>, limit: Int? = nil, _ connection: borrowing Connection
  ) throws -> [SignOff] {
    let most: SQL = limit.map { "LIMIT \($0)" } ?? ""
    return try connection.all(
      """
      SELECT \(SignOff.columns) FROM sign_off WHERE project_id = \(project)
      ORDER BY sign_off_id DESC \(most)
      """
    ) { try SignOff(&$0) }
  }

  private static func due(
    before day: Day, _ filter: SQL, limit: Int, _ connection: borrowing Connection
  ) throws -> [SignOff] {
    // A project that was disconnected keeps its sign-offs.
    try connection.all(
      """
      SELECT \(SignOff.columns) FROM sign_off
      WHERE latest = 1 AND due_on < \(day.description) \(filter)
        AND EXISTS (SELECT 1 FROM project p
          WHERE p.project_id = sign_off.project_id AND p.deleted_at IS NULL)
      ORDER BY due_on LIMIT \(limit)
      """
    ) { try SignOff(&$0) }
  }

  /// Returns the stamp that increases with every change to a policy of a project.
  static func stamp(
    of project: ID<Project>, _ connection: borrowing Connection
  ) throws -> Int64 {
    let stamp = try connection.first(
      """
      SELECT policy_stamp FROM scope
      WHERE project_id = \(project) AND tenant_id = '' AND deleted_at IS NULL
      """
    ) { try $0.next() as Int64 }
    guard let stamp else { throw CallError.notFound }
    return stamp
  }
}

/// A project whose policies an administrator should review and sign off.
public struct DueReview: Sendable {
  public let project: ID<Project>
  public let name: String
  public let status: ReviewStatus
}

extension Reviews {
  /// The number of projects that are read at a time.
  private static let share = 100
  /// The maximum number of projects that are read, if nearly all of them turn out to be unchanged.
  private static let longestLook = 1_000

  /// Returns the projects after another one, by ID, that an administrator can sign off and whose
  /// policies were never signed off, have changed since then, or are due for their next review.
  ///
  /// Policies are only compared in projects where something changed since the sign-off.
  public func queue(
    visibleTo administrator: Administrator, after project: ID<Project>? = nil, limit: Int
  ) async throws -> [DueReview] {
    guard administrator.maySomewhere(.signOffReview) else { return [] }
    let granted: SQL =
      Self.reviewable(by: administrator).map { "AND p.project_id IN (\(list: $0))" } ?? ""
    let now = store.clock.now()
    let today = Day(now).description
    return try await store.read { connection in
      var found: [DueReview] = []
      var (last, looked) = (project?.text ?? "", 0)
      while found.count < limit, looked < Self.longestLook {
        let part = try connection.all(
          """
          SELECT p.project_id, p.display_name, s.policy_stamp
          FROM project p \(SQL.orderedJoin) scope s
            ON s.project_id = p.project_id AND s.tenant_id = ''
          WHERE p.project_id > \(last) AND p.deleted_at IS NULL \(granted)
            AND NOT EXISTS (
              SELECT 1 FROM sign_off o
              WHERE o.project_id = p.project_id AND o.latest = 1 AND o.due_on >= \(today)
                AND o.policy_stamp = s.policy_stamp)
          ORDER BY p.project_id LIMIT \(Self.share)
          """
        ) { row in
          (
            id: try row.next() as ID<Project>, name: try row.next() as String,
            stamp: try row.next() as Int64
          )
        }
        for each in part where found.count < limit {
          let status = try status(of: each.id, stamp: each.stamp, at: now, connection)
          guard status.state != .current else { continue }
          found.append(DueReview(project: each.id, name: each.name, status: status))
        }
        guard part.count == Self.share, let end = part.last else { break }
        last = end.id.text
        looked += part.count
      }
      return found
    }
  }

  /// Returns the next project to sign off after another one, and from the start after the last one;
  /// nil if there's no other.
  public func next(
    after project: ID<Project>, visibleTo administrator: Administrator
  ) async throws -> DueReview? {
    let later = try await queue(visibleTo: administrator, after: project, limit: 1).first
    if let later { return later }
    let first = try await queue(visibleTo: administrator, limit: 1).first
    return first?.project == project ? nil : first
  }
}
