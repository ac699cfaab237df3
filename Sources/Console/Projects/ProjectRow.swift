import HTTP
import Identity
import Localization
import Templating

struct ProjectRow: ViewModel {
  struct Rights: OptionSet, Hashable {
    let rawValue: UInt8

    static let see = Rights(rawValue: 1)
    static let readPolicy = Rights(rawValue: 2)
    static let changePolicy = Rights(rawValue: 4)
    static let manageTenants = Rights(rawValue: 8)
    static let findUsers = Rights(rawValue: 16)
    static let signOffReview = Rights(rawValue: 32)

    init(rawValue: UInt8) { self.rawValue = rawValue }

    init(of administrator: Administrator, in project: ProjectSummary) {
      self.init()
      let rights: [(Rights, Permission)] = [
        (.see, .seePool), (.readPolicy, .readPolicy), (.changePolicy, .changePolicy),
        (.manageTenants, .manageTenants), (.findUsers, .findUsers),
        (.signOffReview, .signOffReview),
      ]
      for (right, permission) in rights
      where permission.isOffered(by: project.kind, at: project.access)
        && administrator.may(permission, project: project.id, tenant: nil)
      { insert(right) }
    }
  }

  struct Status: Hashable {
    /// The number of items that need attention.
    var items = 0
    /// The number of users outside tenants without a second factor who are exempt from MFA.
    var exempt = 0
  }

  struct Source: Hashable {
    let summary: ProjectSummary
    let rights: Rights
    let trend: EnrollmentTrend
    /// The code attempts of the last ``ProjectsPage/days`` days.
    let attempts: AttemptCounts
    let status: Status
    /// When its users were read; nil if they're here, or weren't.
    let readAt: Instant?
    let times: Times

    static func all(
      _ projects: [ProjectSummary], _ trends: [Int64: EnrollmentTrend],
      _ attempts: [Int64: AttemptCounts], _ statuses: [ID<Project>: Status],
      readAt: [ID<Project>: Instant], _ signedIn: SignedIn
    ) -> [Source] {
      let administrator = signedIn.administrator
      // Grants on the instance allow the same in every project of a kind.
      let isSame =
        administrator.grants.allSatisfy { $0.project == nil }
        && projects.allSatisfy {
          $0.kind == projects[0].kind && $0.access == projects[0].access
        }
      let common = isSame ? projects.first.map { Rights(of: administrator, in: $0) } : nil
      return projects.map {
        Source(
          summary: $0, rights: common ?? Rights(of: administrator, in: $0),
          trend: trends[$0.key] ?? EnrollmentTrend(),
          attempts: attempts[$0.key] ?? AttemptCounts(), status: statuses[$0.id] ?? Status(),
          readAt: readAt[$0.id], times: signedIn.times)
      }
    }

    func hash(into hasher: inout Hasher) { hasher.combine(summary) }
  }

  private let summary: ProjectSummary
  private let rights: Rights
  private let configuration: MFAConfiguration
  private let source: Source

  init(_ source: Source) {
    self.source = source
    summary = source.summary
    rights = source.rights
    configuration = MFAConfiguration(state: summary.mfaState, totp: summary.totp)
  }

  private var id: String { summary.id.text }

  // Administrators with a role only in a tenant can't open the project's pages, and its totals would
  // tell them about other tenants.
  private var isVisible: Bool { rights.contains(.see) }

  private var policy: String? {
    rights.contains(.readPolicy) ? ConsolePaths.policy.ofProject(id) : nil
  }

  /// The number of users outside tenants without a factor, in HTML; nil if there are none.
  private var without: Message? {
    let count = summary.ownUsers - summary.ownEnrolledUsers - source.status.exempt
    guard rights.contains(.findUsers), count > 0 else { return nil }
    return Message(
      one: """
        {count} not enrolled outside tenants<span class="visually-hidden"> of {name}</span>
        """,
      other: """
        {count} not enrolled outside tenants<span class="visually-hidden"> of {name}</span>
        """, ["count": .number(count), "name": .name(summary.displayName)])
  }

  static let keys: Keys<Self> = [
    .text("href") {
      $0.isVisible ? ConsolePaths.overview.ofProject($0.id) : ConsolePaths.tenants($0.id)
    },
    .text("name") { $0.summary.displayName },
    .text("id") { $0.id },
    .markup("kind") { $0.summary.kind.chip },
    .markup("readAt") { row in row.source.readAt.map(row.source.times.past) },
    .markup("signIn") { $0.isVisible && $0.summary.isDisabled ? signInOff : nil },
    .markup("totp") { $0.isVisible ? $0.configuration.chip(in: $0.summary.kind) : nil },
    .text("turnOn") {
      guard $0.rights.contains(.changePolicy), !$0.configuration.isTOTPOn else { return nil }
      return $0.policy.map(PolicyLinks.turnOn)
    },
    .text("policy") { $0.policy },
    .markup("window") { $0.isVisible ? WindowStrip.line($0.configuration) : nil },
    .text("tenants") { $0.isVisible ? Message.value(.number($0.summary.tenants)) : nil },
    .text("tenantsHref") { ConsolePaths.tenants($0.id) },
    .text("review") {
      // Others only read it.
      let isWork = !$0.rights.isDisjoint(with: [.changePolicy, .signOffReview])
      return isWork && $0.isVisible && $0.summary.tenants > 0 ? ConsolePaths.review($0.id) : nil
    },
    .text("newTenant") {
      $0.rights.contains(.manageTenants) ? CreateTenant.path($0.id) : nil
    },
    .text("users") { row in
      guard row.isVisible, row.summary.users > 0 else { return nil }
      return Message(
        one: "{enrolled} of {count} user", other: "{enrolled} of {count} users",
        [
          "enrolled": .number(row.summary.enrolledUsers), "count": .number(row.summary.users),
        ])
    },
    .markup("enrolled") {
      $0.isVisible ? Meter.share($0.summary.enrolledUsers, of: $0.summary.users) : nil
    },
    .markup("trend") {
      $0.isVisible && $0.source.trend.isRising != nil ? $0.source.trend.sparkline : nil
    },
    .text("rejected") {
      $0.isVisible ? Meter.percent($0.source.attempts.rejected, of: $0.source.attempts.all) : nil
    },
    .text("attempts") { row in
      guard row.isVisible, row.source.attempts.all > 0 else { return nil }
      return Message(
        one: "{rejected} of {count} code", other: "{rejected} of {count} codes",
        [
          "rejected": .number(row.source.attempts.rejected),
          "count": .number(row.source.attempts.all),
        ])
    },
    .text("attention") { row in
      row.source.status.items == 0
        ? nil
        : Message(
          one: "{count} item", other: "{count} items",
          ["count": .number(row.source.status.items)])
    },
    .text("attentionHref") { _ in AttentionList.all(of: ConsolePaths.projects()) },
    .markup("without") { $0.without },
    .text("withoutHref") { ConsolePaths.users.ofProject($0.id) + "?factor=none" },
  ]

  private static let signInOff = Chip.bad(Message("sign-in off"))
}
