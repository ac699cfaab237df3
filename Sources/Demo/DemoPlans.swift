import Identity
import OTP

/// A demo project and its tenants in their final state.
struct DemoProject: Sendable {
  let id: String
  let name: String
  let pool: DemoPlan
  let tenants: [DemoPlan]

  static let all = [
    DemoProject(
      id: "harbour-bank", name: "Harbour Bank",
      pool: DemoPlan("Harbour Bank", users: 620, enrolled: 71, .on(1), .mandatory, .mixed),
      tenants: [
        DemoPlan("retail", users: 1_180, enrolled: 88, .mandatory(1), .mandatory, .latin),
        DemoPlan("business", users: 460, enrolled: 64, .on(2), .account, .mixed),
        DemoPlan("private-clients", users: 90, enrolled: 97, .on(0), .stepUp, .chinese),
        DemoPlan(
          "staff", users: 240, enrolled: 93, .mandatory(1), .mandatory, .latin, mandatoryIn: 12),
        DemoPlan("archive", users: 60, enrolled: 0, .off, nil, .latin),
      ]),
    DemoProject(
      id: "meridian-care", name: "Meridian Care",
      pool: DemoPlan("Meridian Care", users: 210, enrolled: 38, .on(nil), .skippable, .mixed),
      tenants: [
        DemoPlan("clinic-north", users: 540, enrolled: 46, .notGiven(nil), .skippable, .arabic),
        DemoPlan("clinic-south", users: 410, enrolled: 29, .notGiven(3), nil, .devanagari),
        DemoPlan("pharmacy", users: 130, enrolled: 52, .on(5), .account, .mixed, sms: true),
        DemoPlan("research", users: 75, enrolled: 81, .on(1), .stepUp, .mixed),
      ]),
    DemoProject(
      id: "lumen-school", name: "Lumen School",
      pool: DemoPlan("Lumen School", users: 40, enrolled: 0, .off, nil, .latin),
      tenants: [
        DemoPlan("teachers", users: 310, enrolled: 73, .on(1), .account, .devanagari),
        DemoPlan("students", users: 520, enrolled: 17, .on(10), .skippable, .mixed),
        DemoPlan("parents", users: 115, enrolled: 9, .paused, .account, .mixed),
      ]),
  ]
}

/// A demo user pool in its final state.
struct DemoPlan: Sendable {
  /// How TOTP is configured.
  enum Codes: Sendable {
    /// Never configured.
    case off
    /// Disabled again, after users enrolled.
    case paused
    /// Enabled with this many adjacent intervals.
    case on(Int?)
    /// Enabled and mandatory.
    case mandatory(Int?)
    /// Configured with an unset state.
    case notGiven(Int?)
  }

  /// The scripts in which names are written.
  enum Writing: Sendable { case latin, arabic, devanagari, chinese, mixed }

  let name: String
  let users: Int
  /// The percentage of users with a second factor.
  let enrolled: Int
  let codes: Codes
  let pattern: EnrollmentPattern?
  let writing: Writing
  /// The number of days until the pattern “mandatory” applies; nil for immediately.
  let mandatoryIn: Int64?
  /// Whether SMS is enabled too.
  let sms: Bool

  init(
    _ name: String, users: Int, enrolled: Int, _ codes: Codes, _ pattern: EnrollmentPattern?,
    _ writing: Writing, mandatoryIn: Int64? = nil, sms: Bool = false
  ) {
    self.name = name
    self.users = users
    self.enrolled = enrolled
    self.codes = codes
    self.pattern = pattern
    self.writing = writing
    self.mandatoryIn = mandatoryIn
    self.sms = sms
  }

  /// Returns the policy at the end of the history.
  func policy(at now: Instant) -> PolicyEdit {
    var edit = policy
    edit.mandatoryFrom = mandatoryIn.map { Day(now.advanced(bySeconds: $0 * 86_400)) }
    return edit
  }

  private var policy: PolicyEdit {
    var configuration: MFAConfiguration
    switch codes {
    case .off: configuration = .initial
    case .paused: configuration = Self.configuration(.disabled, .disabled, 5)
    case .on(let intervals): configuration = Self.configuration(.enabled, .enabled, intervals)
    case .mandatory(let intervals):
      configuration = Self.configuration(.mandatory, .enabled, intervals)
    case .notGiven(let intervals): configuration = Self.configuration(nil, .unspecified, intervals)
    }
    configuration.setSMS(sms)
    return PolicyEdit(configuration: configuration, pattern: pattern)
  }

  /// The policy before the month, which differs from the final one if TOTP is configured.
  var earlier: PolicyEdit {
    var edit = policy
    switch codes {
    case .off: return edit
    case .paused: edit.configuration.totp?.state = .enabled
    case .on(let intervals), .mandatory(let intervals), .notGiven(let intervals):
      edit.configuration.totp?.adjacentIntervals = intervals == nil ? 8 : nil
    }
    edit.pattern = pattern == nil ? nil : .account
    return edit
  }

  private static func configuration(
    _ state: MFAState?, _ totp: MFAState, _ intervals: Int?
  ) -> MFAConfiguration {
    MFAConfiguration(
      state: state, totp: TOTPConfiguration(state: totp, adjacentIntervals: intervals))
  }
}

/// A demo user pool after it was created.
struct DemoPool: Sendable {
  let plan: DemoPlan
  let scope: Scope
  /// When it was created.
  let madeAt: Instant
}
