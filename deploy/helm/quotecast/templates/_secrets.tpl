{{- /* The folder of secrets that are files. */ -}}
{{- define "quotecast.secretFolder" -}}/run/secrets/quotecast{{- end }}

{{- /* Secret and key of one setting. Takes root, name, and from: an object with `secret` and `key`, or nothing. */ -}}
{{- define "quotecast.secretKey" -}}
name: {{ (.from).secret | default .root.Values.secrets.name }}
key: {{ (.from).key | default .name }}
{{- end }}

{{- /* Environment of ingests and workers. Takes root. */ -}}
{{- define "quotecast.environment" -}}
envFrom:
  - configMapRef: { name: {{ include "quotecast.fullname" . }}-settings }
  {{- if and (eq .Values.secrets.as "env") .Values.secrets.name }}
  - secretRef: { name: {{ .Values.secrets.name }} }
  {{- end }}
{{- $moved := dict }}
{{- range $name, $from := .Values.secrets.settings }}
{{- if or (eq $.Values.secrets.as "file") ($from).secret ($from).key }}
{{- $_ := set $moved $name ($from | default dict) }}
{{- end }}
{{- end }}
{{- with $moved }}
env:
  {{- include "quotecast.secretVariables" (dict "root" $ "settings" .) | nindent 2 }}
{{- end }}
{{- end }}

{{- /* Variables of settings that are secret, or of their files. Takes root, and settings. */ -}}
{{- define "quotecast.secretVariables" -}}
{{- range $name, $from := .settings }}
{{- if eq $.root.Values.secrets.as "file" }}
- name: {{ $name }}_FILE
  value: {{ include "quotecast.secretFolder" $ }}/{{ $name }}
{{- else }}
- name: {{ $name }}
  valueFrom:
    secretKeyRef:
      {{- include "quotecast.secretKey" (dict "root" $.root "name" $name "from" $from) | nindent 6 }}
{{- end }}
{{- end }}
{{- end }}

{{- /* The volume of secrets that are files. Takes root, and settings. */ -}}
{{- define "quotecast.secretVolume" -}}
- name: secrets
  projected:
    defaultMode: 0444
    sources:
      {{- range $name, $from := .settings }}
      - secret:
          name: {{ ($from).secret | default $.root.Values.secrets.name }}
          items: [{ key: {{ ($from).key | default $name }}, path: {{ $name }} }]
      {{- end }}
{{- end }}

{{- /* Volumes of a pod, if any. Takes root, and settings: the secret ones that the pod reads. */ -}}
{{- define "quotecast.volumes" -}}
{{- if or (eq .root.Values.secrets.as "file") .root.Values.volumes }}
volumes:
  {{- if eq .root.Values.secrets.as "file" }}
  {{- include "quotecast.secretVolume" . | nindent 2 }}
  {{- end }}
  {{- with .root.Values.volumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
{{- end }}

{{- /* Mounts of a container, if any. Takes root. */ -}}
{{- define "quotecast.mounts" -}}
{{- if or (eq .Values.secrets.as "file") .Values.volumeMounts }}
volumeMounts:
  {{- if eq .Values.secrets.as "file" }}
  - { name: secrets, mountPath: {{ include "quotecast.secretFolder" . }}, readOnly: true }
  {{- end }}
  {{- with .Values.volumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
{{- end }}
