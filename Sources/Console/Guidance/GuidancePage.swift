import HTTP
import Identity
import Localization
import Templating

/// `/guidance` and the guides below it.
///
/// Opened from a pool (`?project=…&tenant=…`), guides show its values.
struct GuidancePage: Sendable {
  let guides: Guides
  let authorizer: RequestAuthorizer
  let frames: Frames
  let index: Template<GuidanceView>
  let view: Template<GuideView>

  private var identity: Identity { authorizer.identity }

  func list(_ signedIn: SignedIn) async throws -> Response {
    let guides = try installed()
    let place = try await place(signedIn)
    let frame = try await frame(Message("Guides"), signedIn, place)
    return .html(
      index.render(
        GuidanceView(
          frame: FrameView(frame), place: place.map { GuidePoolView($0, ConsolePaths.guidance()) },
          guides: links(guides, current: nil, place))))
  }

  func show(_ signedIn: SignedIn, _ name: String) async throws -> Response {
    let guides = try installed()
    guard let guide = guides.first(where: { $0.pattern.rawValue == name }) else {
      throw Refusal.notFound
    }
    let place = try await place(signedIn)
    var frame = try await frame(
      Message("{title} · Guides", ["title": .message(guide.pattern.name)]), signedIn, place)
    let list = place?.pool.guidance() ?? ConsolePaths.guidance()
    frame.crumbs.append(Link(text: Message("Guides"), href: list))
    let chosen = signedIn.query.text("platform").flatMap(GuidePlatform.init(rawValue:))
    let cookies = authorizer.cookies
    var response = Response.html(
      view.render(
        GuideView(
          frame: FrameView(frame), guide: guide, publicURL: frames.publicURL, place: place,
          platform: chosen ?? cookies.platform(of: signedIn.request) ?? .web,
          cookie: cookies.platform, guides: links(guides, current: name, place))))
    if let chosen { response.fields.add(.setCookie, cookies.platform(chosen).description) }
    return response
  }

  private func place(_ signedIn: SignedIn) async throws -> GuidePool? {
    guard let project = signedIn.query.text("project"), !project.isEmpty else { return nil }
    let tenant = signedIn.query.text("tenant").flatMap { $0.isEmpty ? nil : $0 }
    let context = try await authorizer.pool(signedIn, project, tenant, needing: .seePool)
    var policy: Policy?
    if context.may(.readPolicy) {
      do { policy = try await identity.policies.read(context.pool) } catch is PolicyError {
        throw Refusal.notFound
      }
    }
    let key = try await ProjectKey(context, identity.apiKeys)
    return GuidePool(context: context, policy: policy, key: key)
  }

  private func frame(
    _ title: Message, _ signedIn: SignedIn, _ place: GuidePool?
  ) async throws -> Frame {
    guard let place else { return await frames.frame(title, for: signedIn) }
    var frame = try await frames.frame(title, in: place.context)
    if place.context.may(.readPolicy) {
      frame.crumbs = [
        Link(text: Message("MFA policy"), href: ConsolePaths.policy(place.pool))
      ]
    }
    return frame
  }

  private func installed() throws -> [Guides.Guide] {
    try guides.all()
  }

  private func links(
    _ guides: [Guides.Guide], current: String?, _ place: GuidePool?
  ) -> [GuideLink] {
    guides.map { guide in
      let path = ConsolePaths.guide(guide.pattern.rawValue)
      return GuideLink(
        pattern: guide.pattern, href: place?.pool.guidance(path) ?? path,
        title: guide.pattern.name,
        summary: guide.summary, isCurrent: guide.pattern.rawValue == current,
        isRecorded: guide.pattern == place?.policy?.pattern)
    }
  }
}

struct GuidePool: Sendable {
  let context: PoolContext
  /// Nil if the reader can't view it.
  let policy: Policy?
  let key: ProjectKey

  var pool: Pool { context.pool }

  func values(_ publicURL: PublicURL) -> GuideValues {
    GuideValues(publicURL, pool: pool, key: key.key, configuration: policy?.configuration)
  }
}
