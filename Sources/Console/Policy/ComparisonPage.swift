import HTTP
import Identity
import Localization
import MailText
import Templating

/// `S/policy/comparison`: compares a pool's policy with that of another pool or of a past day.
struct ComparisonPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<ComparisonView>

  /// The maximum number of tenants that the form suggests.
  private static let suggestions = 100

  func show(_ context: PoolContext) async throws -> Response {
    let pool = context.pool
    let asked = ComparisonAddress(context.signedIn.query)
    var (comparison, errors) = (nil as PolicyComparison?, [FieldError]())
    if !asked.pool.isEmpty, !asked.day.isEmpty {
      errors = [
        FieldError(
          field: "on", text: Message("Choose a project or tenant, or enter a date, not both."))
      ]
    } else {
      do {
        comparison = try await compare(pool, asked, context.signedIn.administrator)
      } catch let error as ComparisonError {
        errors = [try Self.fault(error)]
      }
    }
    let tenants = try await identity.pools.tenantNames(
      project: pool.project, visibleTo: context.signedIn.administrator,
      limit: Self.suggestions)
    let frame = try await frames.frame(
      Message("Compare MFA policies"), in: context,
      crumbs: [Link(text: Message("MFA policy"), href: ConsolePaths.policy(pool))], errors: errors)
    let model = ComparisonView(
      frame: FrameView(frame), pool: pool, asked: asked, comparison: comparison,
      tenants: tenants.map { Choice(value: $0.id.text, text: .value(.name($0.displayName))) },
      today: Day(frames.clock.now()))
    return .html(view.render(model), errors: errors)
  }

  private func compare(
    _ pool: Pool, _ asked: ComparisonAddress, _ administrator: Administrator
  ) async throws -> PolicyComparison? {
    func compare(_ subject: ComparisonSubject) async throws -> PolicyComparison {
      try await identity.policies.compare(pool, with: subject, visibleTo: administrator)
    }
    if !asked.day.isEmpty {
      guard let day = Day(asked.day) else { throw ComparisonError.futureDay }
      return try await compare(.day(day))
    }
    guard !asked.pool.isEmpty else { return nil }
    let parts = asked.pool.split(separator: "/", maxSplits: 1).map(String.init)
    if parts.count == 2 { return try await compare(.pool(ID(parts[0]), ID(parts[1]))) }
    do {
      return try await compare(.pool(pool.project, ID(asked.pool)))
    } catch ComparisonError.poolNotFound {
      return try await compare(.pool(ID(asked.pool), nil))
    }
  }

  private static func fault(_ error: ComparisonError) throws -> FieldError {
    switch error {
    case .poolNotFound:
      FieldError(
        field: "with",
        text: Message("User pool not found. Enter the ID of one whose policy you can view."))
    case .futureDay:
      FieldError(
        field: "on",
        text: Message("Enter a date in the past, such as 2026-09-30."))
    case .notYetCreated:
      FieldError(
        field: "on",
        text: Message("This user pool didn’t exist on that date. Enter a later date."))
    case .removed:
      FieldError(
        field: "on",
        text: Message(
          """
          The audit log of that date was removed when its retention period ended. Enter a later date.
          """))
    case .notRecorded:
      FieldError(
        field: "on",
        text: Message(
          """
          A change since that date was recorded by an earlier version of Countersign, without all of \
          its values. Enter a later date.
          """))
    }
  }
}

struct ComparisonAddress: Sendable {
  /// A tenant of the same project, a project, or `PROJECT/TENANT`; empty for none.
  let pool: String
  /// A day, as forms send it; empty for none.
  let day: String

  init(_ query: Form) { (pool, day) = (query.trimmed("with"), query.trimmed("on")) }
}

struct ComparisonView: ViewModel {
  let frame: FrameView
  let pool: Pool
  let asked: ComparisonAddress
  let comparison: PolicyComparison?
  let tenants: [Choice]
  let today: Day

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("name") { $0.pool.name },
    .text("action") { ConsolePaths.comparison($0.pool) },
    .text("pool") { $0.asked.pool },
    .text("poolError") { $0.frame.error(at: "with") },
    .text("day") { $0.asked.day },
    .text("dayError") { $0.frame.error(at: "on") },
    .text("today") { $0.today.description },
    .text("project") { $0.pool.tenant == nil ? nil : $0.pool.project.text },
    .text("projectName") { Isolation.isolated($0.pool.projectName) },
    .list(\.tenants),
    .optional("result") { view in
      view.comparison.map { ComparedPolicies($0, today: view.today) }
    },
  ]
}

struct ComparedPolicies: ViewModel {
  let comparison: PolicyComparison
  let rows: [ComparedField]

  init(_ comparison: PolicyComparison, today: Day) {
    self.comparison = comparison
    let (one, other) = (comparison.one.edit, comparison.other.edit)
    // The same rule as in the review: the API's state alone, for example, changes nothing.
    // A start date that had yet to come on the day compared was a difference then.
    let day = min(comparison.one.asOf ?? today, comparison.other.asOf ?? today)
    let differing = Set(PolicyInForce(one).differences(from: PolicyInForce(other), on: day))
    rows = PolicyChange.Field.allCases.map {
      ComparedField(
        field: $0, one: ComparedValue($0, one), other: ComparedValue($0, other),
        differs: differing.contains($0))
    }
  }

  private var finding: Message {
    let count = rows.count(where: \.differs)
    return count == 0
      ? Message("Both policies have the same effect.")
      : Message(
        one: "{count} of {fields} fields differs.", other: "{count} of {fields} fields differ.",
        ["count": .number(count), "fields": .number(rows.count)])
  }

  private static func heading(_ policy: ComparedPolicy) -> Message {
    let name = Message.Value.name(Formatted.short(policy.pool.name))
    return policy.asOf.map {
      Message("{name}, {day}", ["name": name, "day": Times.value($0)])
    } ?? Message("{name}, now", ["name": name])
  }

  static let keys: Keys<Self> = [
    .text("finding") { $0.finding },
    .text("oneHeading") { heading($0.comparison.one) },
    .text("otherHeading") { heading($0.comparison.other) },
    .list(\.rows),
  ]
}

struct ComparedField: ViewModel {
  let field: PolicyChange.Field
  let one: ComparedValue
  let other: ComparedValue
  /// Whether the effective policies differ in it.
  let differs: Bool

  static let keys: Keys<Self> = [
    .text("name") { $0.field == .state ? Message("API state") : $0.field.label },
    .object(\.one),
    .object(\.other),
    .flag(\.differs),
  ]
}

struct ComparedValue: ViewModel {
  let text: Message
  /// The drawing of the acceptance window, with its number; nil for other fields.
  let window: Markup?

  init(_ field: PolicyChange.Field, _ edit: PolicyEdit) {
    text = PolicyChange.value(field, edit).message
    window = field == .adjacentIntervals ? WindowStrip.small(edit.configuration) : nil
  }

  static let keys: Keys<Self> = [
    .text(\.text),
    .markup(\.window),
  ]
}

enum ComparisonRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let page = try parts.page("comparison/comparison", ComparisonPage.init)
    table.inside(ConsolePaths.comparison, .get(.readPolicy), page.show)
  }
}

extension ConsolePaths {
  static let comparison = PoolPath0("policy", "comparison")
}
