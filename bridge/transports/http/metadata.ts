/**
 * Protected resource metadata: how a client finds out where to sign in.
 *
 * Source: RFC 9728 §2 and §3; MCP 2025-11-25, basic/authorization.
 */
import { authorityOf } from "./guard.ts";
import type { HostPolicy } from "./host_policy.ts";

/** The well-known part of the path. */
export const WELL_KNOWN = "/.well-known/oauth-protected-resource";

/** What {@link createMetadata} describes. */
export interface MetadataOptions {
  /** The public URL of `/mcp`. Where absent, a request on loopback describes itself. */
  readonly resourceUrl?: string;
  /** Absent where nobody can sign in over the network (embedded mode). */
  readonly authorizationServers: readonly string[];
  readonly scopes: readonly string[];
  readonly hosts: HostPolicy;
}

/** Describes this server to clients without a token. */
export interface Metadata {
  /** The path besides the two fixed ones where the document is, for a resource below a path prefix. */
  readonly path: string | undefined;
  /** Absolute URL of the document, for challenges. */
  urlFor(request: Request): string | undefined;
  /** The document as JSON text. */
  documentFor(request: Request): string | undefined;
}

/**
 * Creates the description. Its URLs come from the configuration, never from
 * `Host` or `X-Forwarded-*`, unless the host is this very machine.
 */
export function createMetadata(options: MetadataOptions): Metadata {
  const resourceFor = (request: Request) =>
    options.resourceUrl ?? ownUrl(request, options.hosts);
  return {
    path: options.resourceUrl && pathOf(options.resourceUrl),
    urlFor: (request) => {
      const resource = resourceFor(request);
      return resource && metadataUrl(resource);
    },
    documentFor: (request) => {
      const resource = resourceFor(request);
      return resource && document(resource, options);
    },
  };
}

function ownUrl(request: Request, hosts: HostPolicy): string | undefined {
  const authority = request.headers.get("host") ?? authorityOf(request.url);
  if (!hosts.isLoopback(authority)) return undefined;
  return `http://${authority.toLowerCase()}/mcp`;
}

/** RFC 9728 §3.1: the well-known part goes between host and path. */
function metadataUrl(resource: string): string {
  return new URL(resource).origin + pathOf(resource);
}

function pathOf(resource: string): string {
  return WELL_KNOWN + new URL(resource).pathname.replace(/\/$/, "");
}

function document(resource: string, options: MetadataOptions): string {
  const { authorizationServers, scopes } = options;
  return JSON.stringify({
    resource,
    ...(authorizationServers.length > 0
      ? { authorization_servers: authorizationServers }
      : {}),
    scopes_supported: scopes,
    bearer_methods_supported: ["header"],
    resource_name: "CyberOS",
  });
}
