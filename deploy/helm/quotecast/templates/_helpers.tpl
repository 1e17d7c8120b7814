{{- define "quotecast.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end }}

{{- /* Labels that select pods: every one is on pods and in selectors. Takes root, and component if one. */ -}}
{{- define "quotecast.selector" -}}
app.kubernetes.io/name: quotecast
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- with .component }}
app.kubernetes.io/component: {{ . }}
{{- end }}
{{- end }}

{{- /* Name, namespace and labels of an object. Takes root, component if one, and a suffix or a whole name. */ -}}
{{- define "quotecast.metadata" -}}
name: {{ .name | default (printf "%s%s" (include "quotecast.fullname" .root) (.suffix | default "")) }}
namespace: {{ .root.Release.Namespace }}
labels:
  {{- include "quotecast.selector" . | nindent 2 }}
  app.kubernetes.io/part-of: quotecast
  app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
  app.kubernetes.io/managed-by: {{ .root.Release.Service }}
  helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "quotecast.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end }}

{{- /* The account of ingests and workers; empty: the namespace's default account. */ -}}
{{- define "quotecast.account" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "quotecast.fullname" .) -}}
{{- else -}}
{{- .Values.serviceAccount.name -}}
{{- end -}}
{{- end }}

{{- /* What all pods have before their containers. Takes root, and account. */ -}}
{{- define "quotecast.pod" -}}
automountServiceAccountToken: false
{{- with .account }}
serviceAccountName: {{ . }}
{{- end }}
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
securityContext:
  runAsNonRoot: true
  seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- /* Spread over machines, and where the pods may run. Takes root, component, and values of the component. */ -}}
{{- define "quotecast.placement" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "quotecast.selector" . | nindent 8 }}
{{- with .values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .values.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .values.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .values.affinity }}
affinity: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- /* Labels and annotations of pods; changed settings restart them. Takes root, component, and its values. */ -}}
{{- define "quotecast.podMetadata" -}}
labels:
  {{- include "quotecast.selector" . | nindent 2 }}
annotations:
  checksum/settings: {{ include "quotecast.settings" .root | sha256sum }}
  {{- with .values.podAnnotations }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{- define "quotecast.containerSecurity" -}}
securityContext:
  readOnlyRootFilesystem: true
  allowPrivilegeEscalation: false
  capabilities: { drop: [ALL] }
{{- end }}

{{- /* Image of a container. Takes root. */ -}}
{{- define "quotecast.containerImage" -}}
image: {{ include "quotecast.image" . }}
{{- with .Values.image.pullPolicy }}
imagePullPolicy: {{ . }}
{{- end }}
{{- end }}

{{- /* Probes of the private port, which no client can fill. */ -}}
{{- define "quotecast.probes" -}}
startupProbe:
  httpGet: { path: /health, port: metrics }
  periodSeconds: 1
  failureThreshold: 60
# A process without an answer for half a minute hangs.
livenessProbe:
  httpGet: { path: /health, port: metrics }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 3
# The answer waits a second for a database that hangs; an outage of one takes no worker out.
readinessProbe:
  httpGet: { path: /ready, port: metrics }
  periodSeconds: 2
  timeoutSeconds: 3
  failureThreshold: 2
{{- end }}
