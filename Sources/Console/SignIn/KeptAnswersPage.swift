import HTTP
import Identity
import Localization
import Templating
import Text

/// `/sign-in/answers`: lets an administrator review and resubmit a form that was kept.
struct KeptAnswersPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<KeptAnswersView>
  let routes: KeptFormRoutes

  func show(_ signedIn: SignedIn) async throws -> Response {
    let draft = await authorizer.drafts.find(
      signedIn.query[Drafts.markField], for: signedIn.administrator.id, signedIn.request)
    guard let draft else { return .redirect(to: ConsolePaths.home()) }
    let frame = await frames.frame(Message("Your form was saved"), for: signedIn)
    let (pool, user) = try await subject(of: draft.target, signedIn)
    return .html(
      view.render(
        KeptAnswersView(
          frame: FrameView(frame), draft: draft,
          action: routes.action(of: draft.target), pool: pool, user: user,
          leave: ReturnAddress.checked(draft.target.rawPath, among: routes.destinations)
            ?? ConsolePaths.home())))
  }

  /// The pool and the user in the form's address, if the administrator can see them.
  private func subject(
    of target: Target, _ signedIn: SignedIn
  ) async throws -> (pool: Pool?, user: UserIdentity?) {
    var rest = target.segments[...]
    guard let project = Self.take("projects", from: &rest) else { return (nil, nil) }
    let tenant = Self.take("tenants", from: &rest)
    let pool: Pool
    do {
      pool = try await identity.pools.existing(
        project: ID(project), tenant: tenant.map { ID($0) })
    } catch is PoolLookupError {
      return (nil, nil)
    }
    let administrator = signedIn.administrator
    guard administrator.may(.seePool, in: pool) else { return (nil, nil) }
    guard administrator.may(.findUsers, in: pool), let uid = Self.take("users", from: &rest) else {
      return (pool, nil)
    }
    let account = try await identity.accounts.find(pool, ID(uid))
    return (pool, account.map { UserIdentity($0, in: pool) })
  }

  /// Removes the segments of a resource from the start of a path, and returns its ID.
  private static func take(
    _ kind: String, from segments: inout ArraySlice<UntrustedText>
  ) -> String? {
    let start = Array(segments.prefix(2))
    guard start.count == 2, start[0] == UntrustedText(kind) else { return nil }
    segments = segments.dropFirst(2)
    return start[1].text
  }
}

struct KeptFormRoutes: Sendable {
  let destinations: [Route]
  private let router: Router
  private let names: [Route.Label: Message]

  init(_ routes: [ConsoleRoute]) {
    destinations = routes.map(\.route)
    var router = Router()
    var names: [Route.Label: Message] = [:]
    for route in routes {
      router.add(route.route)
      names[route.route.label] = route.name
    }
    (self.router, self.names) = (router, names)
  }

  func action(of target: Target) -> Message? {
    router.label(.post, target).flatMap { names[$0] }
  }
}

struct KeptAnswersView: ViewModel {
  let frame: FrameView
  let draft: Drafts.Draft
  let action: Message?
  let pool: Pool?
  /// The user that it's about; nil if it's about none, or if they don't exist.
  let user: UserIdentity?
  let leave: String

  /// The number of characters of a value that are shown; all of it is sent.
  private static let mostShown = 500

  private var facts: [Fact] {
    var facts: [Fact] = []
    if let pool, user == nil {
      facts.append(Fact(Message("Project"), HTML.isolated(ApprovalText.place(pool))))
    }
    let entries = draft.target.query.entries + draft.answers
    let shown = entries.filter { entry in
      !entry.value.isEmpty && !OptionalSecret.isAbout(Drafts.secrets, entry.name)
    }
    facts += shown.map { answer in
      Fact(
        Message.verbatim(Formatted.short(answer.name.text)),
        HTML.isolated(Formatted.short(answer.value.text, Self.mostShown)))
    }
    return facts
      + draft.secrets.map { name in
        Fact(Message.verbatim(name), Message("not saved"))
      }
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("action") { $0.draft.target.address },
    .text("heading") { $0.action },
    .optional(\.user),
    .list("facts") { $0.facts },
    .text(\.leave),
    .list("answers") {
      OptionalSecret.fields($0.draft.answers, without: $0.draft.secrets).map {
        HiddenField(name: $0.name.text, value: $0.value.text)
      }
    },
    .flag("lacksSecrets") { !$0.draft.secrets.isEmpty },
  ]
}
