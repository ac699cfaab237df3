import Database

/// What an enrollment campaign sends its users.
public struct CampaignTerms: Sendable, Equatable {
  /// How long the links are valid, in seconds from the start of the campaign.
  public let seconds: Int64
  /// Whether users who haven't enrolled are reminded.
  public let reminds: Bool
  /// A sentence of the administrator's in each email; empty if there's none.
  public let sentence: String

  /// The number of days for which links can be valid.
  public static let days = 1...14
  public static let usualDays = 7
  /// The maximum length of the sentence, in Unicode scalars.
  public static let longestSentence = 300
  private static let day: Int64 = 86_400
  /// The terms that a form offers.
  public static let usual = CampaignTerms(
    seconds: Int64(usualDays) * day, reminds: true, sentence: "")

  init(seconds: Int64, reminds: Bool, sentence: String) {
    (self.seconds, self.reminds, self.sentence) = (seconds, reminds, sentence)
  }

  /// Creates the terms of a new campaign; nil if the number of days isn't in ``days``, or the
  /// sentence is too long.
  ///
  /// What mail clients turn into links is taken out of the sentence.
  public init?(days: Int, reminds: Bool, sentence: String) {
    let sentence = sentence.trimmed
    guard Self.days.contains(days), sentence.unicodeScalars.count <= Self.longestSentence else {
      return nil
    }
    self.init(
      seconds: Int64(days) * Self.day, reminds: reminds,
      sentence: SafeName.unlinked(sentence, longest: Self.longestSentence))
  }

  /// Returns the time at which the links of a campaign end.
  public func end(from start: Instant) -> Instant { start.advanced(bySeconds: seconds) }

  /// Returns the times of the reminders: after two days and one day before the end, none on the
  /// first day.
  public func reminders(from start: Instant) -> [Instant] {
    guard reminds else { return [] }
    let last = seconds - Self.day
    return Set([min(2 * Self.day, last), last]).filter { $0 >= Self.day }.sorted()
      .map { start.advanced(bySeconds: $0) }
  }
}

extension BulkJob {
  /// What the links of a campaign need of it; nil if it isn't started.
  var link: LinkCampaign? {
    guard let terms, let startedAt else { return nil }
    return LinkCampaign(
      id: id, sentence: terms.sentence, end: terms.end(from: startedAt), seconds: terms.seconds)
  }

  /// The time at which a campaign's links end; nil if it isn't started.
  public var linksEndAt: Instant? {
    guard let terms, let startedAt else { return nil }
    return terms.end(from: startedAt)
  }
}

/// The numbers of a campaign's users.
public struct CampaignCounts: Sendable, Equatable {
  /// Users who were sent a link.
  public let sent: Int
  /// Users who pressed Continue on the link's page.
  public let opened: Int
  /// Users who have enrolled a second factor since, in whatever way.
  public let enrolled: Int
  /// Users whose link ended before they enrolled.
  public let expired: Int
  /// Users who neither opened their link nor enrolled.
  public let notOpened: Int

  /// The columns of counts by campaigns `j` and users `u`.
  fileprivate static let columns: SQL = """
    count(*), count(u.opened_at), count(u.enrolled_at),
      count(CASE WHEN u.enrolled_at IS NULL AND j.state <> 'running' THEN 1 END),
      count(CASE WHEN u.enrolled_at IS NULL AND u.opened_at IS NULL THEN 1 END)
    """

  fileprivate init(_ row: inout Row) throws {
    sent = try row.next()
    opened = try row.next()
    enrolled = try row.next()
    expired = try row.next()
    notOpened = try row.next()
  }
}

/// A user who was sent a campaign's link.
public struct CampaignUser: Sendable {
  public enum State: Sendable {
    case sent, opened, enrolled, expired
  }

  /// Users of a campaign in the same state.
  public enum Filter: String, Sendable {
    case notEnrolled = "not-enrolled"
    case notOpened = "not-opened"
    case enrolled
  }

  public let account: ID<Account>
  public let email: String?
  public let name: String?
  /// The time at which the newest link was sent.
  public let sentAt: Instant
  public let openedAt: Instant?
  public let enrolledAt: Instant?
  let key: Int64

  /// Returns the state of the user and its time.
  public func state(in job: BulkJob) -> (state: State, at: Instant) {
    if let enrolledAt { return (.enrolled, enrolledAt) }
    if job.state != .running, let end = job.state == .done ? job.linksEndAt : job.endedAt {
      return (.expired, end)
    }
    if let openedAt { return (.opened, openedAt) }
    return (.sent, sentAt)
  }

  /// Records that a user pressed Continue on the page of a campaign's link.
  static func open(
    _ account: Int64, of campaign: Int64, in pool: Pool, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    try connection.run(
      """
      UPDATE campaign_user SET opened_at = \(now)
      WHERE scope_key = \(pool.key) AND job_id = \(campaign) AND account_key = \(account)
        AND opened_at IS NULL
      """)
  }
}

extension BulkRemovals {
  /// Counts the users of a campaign by state.
  public func campaign(_ job: BulkJob) async throws -> CampaignCounts {
    try await store.read { connection in
      let counts = try connection.first(
        """
        SELECT \(CampaignCounts.columns) FROM campaign_user u
          JOIN bulk_job j USING (scope_key, job_id)
        WHERE u.scope_key = \(job.poolKey) AND u.job_id = \(job.id)
        """
      ) { try CampaignCounts(&$0) }
      guard let counts else { throw Failure("no counts of a campaign") }
      return counts
    }
  }

  /// Counts the users of all campaigns of the pools with these keys by state, as far back as bulk actions are kept.
  ///
  /// - Returns: The counts by the key of the pool, without those that have no campaign.
  public func campaigns(of keys: [Int64]) async throws -> [Int64: CampaignCounts] {
    try await store.read { connection in
      let rows = try connection.all(
        """
        SELECT u.scope_key, \(CampaignCounts.columns) FROM campaign_user u
          JOIN bulk_job j USING (scope_key, job_id)
        WHERE u.scope_key IN (\(list: keys)) GROUP BY u.scope_key
        """
      ) { (try $0.next() as Int64, try CampaignCounts(&$0)) }
      return Dictionary(uniqueKeysWithValues: rows)
    }
  }

  /// Lists the users of a campaign, those who haven't enrolled first.
  public func users(
    of job: BulkJob, _ filter: CampaignUser.Filter? = nil, after: String? = nil, limit: Int = 50
  ) async throws -> Page<CampaignUser> {
    let limit = Page<CampaignUser>.size(limit)
    let last = (after ?? "").split(separator: ".").compactMap { Int64($0) }
    let (first, key) = last.count == 2 ? (last[0], last[1]) : (0, 0)
    return try await store.read { connection in
      var users: [CampaignUser] = []
      for part in Int64(0)...1 where part >= first && users.count <= limit {
        let isShown: SQL =
          switch (filter, part) {
          case (.enrolled, 0), (.notEnrolled, 1), (.notOpened, 1): "1 = 0"
          case (.notOpened, _): "u.enrolled_at IS NULL AND u.opened_at IS NULL"
          case (_, 0): "u.enrolled_at IS NULL"
          default: "u.enrolled_at IS NOT NULL"
          }
        users += try connection.all(
          """
          SELECT a.uid, a.email, a.display_name, u.sent_at, u.opened_at, u.enrolled_at,
            u.account_key
          FROM campaign_user u \(SQL.orderedJoin) account a USING (account_key)
          WHERE u.scope_key = \(job.poolKey) AND u.job_id = \(job.id)
            AND u.account_key > \(part == first ? key : 0) AND \(isShown)
          ORDER BY u.account_key LIMIT \(limit + 1 - users.count)
          """
        ) { row in
          CampaignUser(
            account: try row.next(), email: try row.next(), name: try row.next(),
            sentAt: try row.next(), openedAt: try row.next(), enrolledAt: try row.next(),
            key: try row.next())
        }
      }
      return Page(users, limit: limit) { "\(($0.enrolledAt != nil).number).\($0.key)" }
    }
  }

  /// Previews a campaign for the users of another one who haven't enrolled.
  ///
  /// - Returns: The number of the draft.
  public func draft(
    resending job: BulkJob, in pool: Pool, by author: Author, _ agent: ConsoleSession
  ) async throws -> Int64 {
    let users = try await users(of: job, .notEnrolled, limit: BulkList.longest).items
    return try await draft(users.map(\.account), .campaign, in: pool, by: author, agent)
  }

  /// Previews a campaign for the users without second factors that a list of a pool shows, and those
  /// among them who are exempt, as the preview says.
  ///
  /// - Returns: The number of the draft.
  public func draft(
    campaignFor listing: AccountListing, in pool: Pool, by author: Author, _ agent: ConsoleSession
  ) async throws -> Int64 {
    var users: [ID<Account>] = []
    // Users who are exempt have a list of their own.
    for filter in [Accounts.Filter.none, .exempt] {
      var listing = listing
      listing.filter = filter
      users += try await self.users(of: listing, in: pool, atMost: BulkList.longest, agent) {
        !$0.hasTOTP && !$0.hasPhone
      }
    }
    return try await draft(users, .campaign, in: pool, by: author, agent)
  }
}
